"""PrimaBench tasks on single cells: cell-type annotation and clustering.

Importing this package loads nothing: specs are light values in :mod:`primabench_task_singlecell.specs`; loaders and
baselines are resolved when they run.
"""
