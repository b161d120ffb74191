"""Metrics of predicted cells: distances of clouds, differential expression."""

from __future__ import annotations

from primabench_core.spec import Parameter
from primabench_task_perturbation.specs.fields import BASELINES, FDR, POLICY, over_cells, over_differential
from primabench_task_perturbation.specs.profiles import CELL_EVAL

SZEKELY = "Székely and Rizzo (2013) J Stat Plan Inference 143:1249, doi:10.1016/j.jspi.2013.03.018"
PEIDLI = "Peidli et al. (2024) Nat Methods 21:531, doi:10.1038/s41592-023-02144-y"
_ESTIMATOR = Parameter("estimator", "v", "with (v) or without (u) pairs of a cell with itself", choices=("v", "u"))

energy_distance = over_cells(
    "energy_distance",
    "Energy distance of predicted and true cells, mean over perturbations.",
    Parameter("distance", "euclidean", "distance of cells", choices=("euclidean", "sqeuclidean")),
    _ESTIMATOR,
    POLICY,
    BASELINES,
    canonical={"energy_distance_squared": {"distance": "sqeuclidean"}},
    direction="lower",
    optimum=0.0,
    references=(SZEKELY, PEIDLI),
)
energy_distance_squared = energy_distance.variant(
    "energy_distance_squared", summary="Energy distance with squared Euclidean distances, mean over perturbations."
)
mmd_rbf = over_cells(
    "mmd_rbf",
    "Maximum mean discrepancy of predicted and true cells, mean over perturbations.",
    Parameter("gamma", 0.0, "of exp(-gamma d²); 0: one over the median", kinds=(float,), low=0.0),
    Parameter("squared", True, "the square, or its root", choices=(True, False)),
    _ESTIMATOR,
    POLICY,
    BASELINES,
    direction="lower",
    optimum=0.0,
    references=("Gretton et al. (2012) JMLR 13:723",),
)
wasserstein = over_cells(
    "wasserstein",
    "Wasserstein distance of predicted and true cells, not regularised, mean over perturbations.",
    Parameter("order", 2, "power of the distance", choices=(2, 1)),
    POLICY,
    BASELINES,
    direction="lower",
    low=0.0,
    optimum=0.0,
    references=("Villani (2009) Optimal Transport, doi:10.1007/978-3-540-71050-9",),
    libraries=("scipy",),
)
pearson_edistance = over_cells(
    "pearson_edistance",
    "Pearson correlation over perturbations of energy distances to control.",
    low=-1.0,
    high=1.0,
    references=(CELL_EVAL, PEIDLI),
)

_K = Parameter("k", 0, "genes looked at; 0: as many as are truly differential", kinds=(int,), low=0)
_SHARE = {"low": 0.0, "high": 1.0, "references": (CELL_EVAL,)}
de_overlap_at_n = over_differential(
    "de_overlap_at_n",
    "Share of the strongest true genes among the strongest predicted.",
    _K,
    FDR,
    POLICY,
    BASELINES,
    **_SHARE,
)
de_precision_at_n = over_differential(
    "de_precision_at_n",
    "Share of the strongest predicted genes among the strongest true.",
    _K,
    FDR,
    POLICY,
    BASELINES,
    **_SHARE,
)
de_recall = over_differential(
    "de_recall", "Share of truly differential genes that are predicted to be so.", FDR, POLICY, BASELINES, **_SHARE
)
de_direction_match = over_differential(
    "de_direction_match",
    "Share of truly differential genes with the true sign of change.",
    FDR,
    POLICY,
    BASELINES,
    **_SHARE,
)
de_spearman_lfc = over_differential(
    "de_spearman_lfc",
    "Spearman correlation of fold changes over truly differential genes.",
    FDR,
    POLICY,
    BASELINES,
    low=-1.0,
    high=1.0,
    references=(CELL_EVAL,),
)
de_count_spearman = over_differential(
    "de_count_spearman",
    "Spearman correlation over perturbations of the number of differential genes.",
    FDR,
    low=-1.0,
    high=1.0,
    references=(CELL_EVAL,),
)
de_auroc = over_differential(
    "de_auroc", "AUROC of truly differential genes by predicted significance.", FDR, POLICY, BASELINES, **_SHARE
)
de_average_precision = over_differential(
    "de_average_precision",
    "Average precision of truly differential genes by predicted significance.",
    FDR,
    POLICY,
    BASELINES,
    **_SHARE,
)
