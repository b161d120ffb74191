"""The page: a template, a style sheet and scripts, joined into one file by :mod:`primabench_board.site`."""
