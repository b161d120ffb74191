"""Metrics of protein fitness: loaded when they run."""
