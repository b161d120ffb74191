"""PrimaBench boards: a registry of tasks, an append-only ledger of results, and leaderboards computed from both.

Importing this package loads nothing. The rooms, low to high: :mod:`~primabench_board.names` (who may be called what),
:mod:`~primabench_board.registry` (tasks, and the boards that follow from them),
:mod:`~primabench_board.submission` (a scored submission and its file), :mod:`~primabench_board.ledger` (where
submissions are kept), :mod:`~primabench_board.standings` (ranks: a pure function of registry and submissions) and
:mod:`~primabench_board.export` (the pages).
"""
