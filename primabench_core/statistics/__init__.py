"""Statistics for scores: resampling, paired tests, many comparisons, means with gaps. Public as ``pb.statistics``.

Every function takes keyword arguments and returns a :class:`Finding`: named numbers, or a reason why there is none.
Nothing here knows about tasks, results or files.
"""

from __future__ import annotations

from primabench_core.statistics.aggregate import aggregate_mean
from primabench_core.statistics.auroc import delong
from primabench_core.statistics.bootstrap import bootstrap, paired_bootstrap
from primabench_core.statistics.finding import Finding
from primabench_core.statistics.many import benjamini_hochberg, holm
from primabench_core.statistics.paired import mcnemar_exact, sign_flip, wilcoxon_paired
from primabench_core.statistics.resampling import Resampling, block_of, draw_below

__all__ = [
    "Finding",
    "Resampling",
    "aggregate_mean",
    "benjamini_hochberg",
    "block_of",
    "bootstrap",
    "delong",
    "draw_below",
    "holm",
    "mcnemar_exact",
    "paired_bootstrap",
    "sign_flip",
    "wilcoxon_paired",
]
