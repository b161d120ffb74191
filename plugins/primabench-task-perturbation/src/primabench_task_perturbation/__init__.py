"""Prediction of the effects of perturbations on single cells: task, metrics, splits, baselines.

Its declarations lie in :mod:`primabench_task_perturbation.specs` and load no array library.
"""
