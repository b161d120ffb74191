"""Metrics over many resamples at once, from how often each row occurs; each gives the bits of its namesake.

``MetricSpec.weighted`` names these functions. Sorts, ties and products are prepared once on the rows of the view.
"""
