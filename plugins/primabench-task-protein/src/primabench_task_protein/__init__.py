"""PrimaBench task on proteins: fitness prediction over deep mutational scans (ProteinGym).

Importing this package loads nothing: specs are light values in :mod:`primabench_task_protein.specs`; metrics,
preparers and baselines are resolved when they run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

_HOMES = {"proteingym_board": "board", "BoardRow": "board", "tree_mean": "metrics.tree"}

__all__ = [*_HOMES]

if TYPE_CHECKING:
    from primabench_task_protein.board import BoardRow as BoardRow
    from primabench_task_protein.board import proteingym_board as proteingym_board
    from primabench_task_protein.metrics.tree import tree_mean as tree_mean


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
