"""Batch integration: what the metrics of the panel share, and the metrics; loaded when something is scored."""
