"""Metrics of class probabilities over many resamples (:mod:`primabench_metrics.calibration`)."""

from __future__ import annotations

import numpy as np

from primabench_core.state.exact import exact_row_sums
from primabench_core.state.multiplicity import Multiplicities
from primabench_core.state.rows import Rows
from primabench_core.state.weighed import WeighedSums
from primabench_metrics.calibration import bin_terms, brier_terms, log_terms
from primabench_metrics.classes import Label
from primabench_metrics.weighted.quotients import Floats, shares
from primabench_metrics.weighted.regression import mean_of


def log_loss(state: Rows, drawn: Multiplicities, *, clip: float = 2.220446049250313e-16) -> Floats | None:
    """Mean of −ln of the probability of the true class."""

    def build() -> WeighedSums | None:
        terms = log_terms(state, clip)
        return None if terms is None else WeighedSums([(terms,)])

    return mean_of(state.shared(("primabench_metrics.weighted.log_loss", clip), build), drawn)


def brier_score(state: Rows, drawn: Multiplicities, *, positive: Label = 1) -> Floats | None:
    """Mean squared distance of the probabilities."""

    def build() -> WeighedSums:
        return WeighedSums([(brier_terms(state, positive),)])

    return mean_of(state.shared(("primabench_metrics.weighted.brier", positive), build), drawn)


def expected_calibration_error(state: Rows, drawn: Multiplicities, *, bins: int = 15) -> Floats | None:
    """Expected calibration error; a row stays in its bin."""

    def build() -> WeighedSums:
        place, right, top = bin_terms(state, bins)
        inside = [place == b for b in np.unique(place).tolist()]
        return WeighedSums([(np.where(i, numbers, 0.0),) for numbers in (right, top) for i in inside])

    sums = state.shared(("primabench_metrics.weighted.bins", bins), build).over(drawn)
    if sums is None:
        return None
    hits, sure = np.split(np.array([[total.value for total in row] for row in sums]), 2, axis=1)
    return shares(exact_row_sums(np.abs(hits - sure)), drawn.n)
