"""What a board must know of a metric to draw its scores: range and chance. Higher is better for all of them."""

from __future__ import annotations

from attrs import frozen


@frozen
class BoardMetric:
    """A metric whose scores may stand on a board.

    Args:
        name: Canonical name.
        title: As headings say it.
        low: Lowest possible score.
        high: Highest possible score.
        chance: Expected score of a model that knows nothing; skill is measured from it.
    """

    name: str
    title: str
    low: float
    high: float
    chance: float


METRICS = {
    m.name: m
    for m in (
        BoardMetric("auroc", "AUROC", 0.0, 1.0, 0.5),
        BoardMetric("auroc_ovr_macro", "AUROC, one against rest", 0.0, 1.0, 0.5),
        BoardMetric("pearson", "Pearson r", -1.0, 1.0, 0.0),
    )
}
"""Metrics that the probe of patient embeddings scores with."""
