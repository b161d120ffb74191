"""The metrics that PrimaBench tasks share.

Light values are in :mod:`primabench_metrics.specs`; each family of functions is a module of its own and is imported
when a metric of it runs.
"""
