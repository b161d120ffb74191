"""The panel of batch integration. All metrics of a representation read the same fields, so that they share its work."""

from __future__ import annotations

from attrs import evolve

from primabench_core.spec import Field, Interval, MetricSpec, Parameter
from primabench_task_singlecell.specs.integration_fields import (
    BATCH,
    BEFORE,
    CELL_CYCLE,
    CORRECTED,
    COUNTS,
    EMBEDDING,
    EXPRESSION,
    LABEL,
    NEIGHBOUR_DISTANCES,
    NEIGHBOURS,
    PSEUDOTIME_WHERE_CURATED,
    RATE,
    ROLE,
)

_PLACE = "primabench_task_singlecell.integration"
_EXAMPLES = f"{_PLACE}.examples"
_NO_INTERVAL = Interval("none", "a cell drawn twice is its own nearest neighbour, at distance 0")

SCIB = "Luecken et al. (2022) Nat Methods 19:41, doi:10.1038/s41592-021-01336-8"
LISI = "Korsunsky et al. (2019) Nat Methods 16:1289, doi:10.1038/s41592-019-0619-0"
KBET = "Buttner et al. (2019) Nat Methods 16:43, doi:10.1038/s41592-018-0254-1"
BRAS = "Rautenstrauch & Ohler (2025) Nat Biotechnol, doi:10.1038/s41587-025-02743-4"
LEIDEN = "Traag, Waltman & van Eck (2019) Sci Rep 9:5233, doi:10.1038/s41598-019-41695-z"

REPRESENTATION = tuple(evolve(f, optional=False) for f in (EMBEDDING, CORRECTED, NEIGHBOURS))
"""What a prediction may be; the first one present is taken."""


def _truth(*needed: str) -> tuple[Field | tuple[Field, ...], ...]:
    """Types, batches and the representation before, of which these are needed and the others read where they are."""
    label, batch = (evolve(f, optional=f.name not in needed) for f in (LABEL, BATCH))
    return label, batch, (BEFORE, EXPRESSION)


def _param_k(default: int) -> Parameter:
    return Parameter("k", default, "neighbours of each cell, itself not among them", kinds=(int,), low=1)


_SEARCH = Parameter(
    "search", "exact", "exact neighbours, or approximate ones by pynndescent, flagged in the result", kinds=(str,)
)
_ISOLATED = Parameter(
    "iso_threshold", None, "batches up to which a label is isolated; by default the fewest", kinds=(int,), low=1
)
_SELF = Parameter("include_self", False, "let the cell be its own first neighbour", kinds=(bool,))
_ALPHA = Parameter("alpha", 0.05, "level of the test", kinds=(float,), low=0.0, high=1.0)
_STARTS = Parameter("starts", 10, "seeded starts of k-means, the best by inertia counts", kinds=(int,), low=1)
_COMPONENTS = Parameter(
    "components", "standard", "all, a number, or standard: all of an embedding, 50 of a matrix", kinds=(str, int)
)
_CLUSTERS = Parameter("clusters", "leiden", "which clusters NMI and ARI are of", choices=("leiden", "kmeans"))


def _metric(name: str, module: str, summary: str, needed: tuple[str, ...], **more: object) -> MetricSpec:
    settings = {
        "prediction": (REPRESENTATION, NEIGHBOUR_DISTANCES),
        "truth": _truth(*needed),
        "low": 0.0,
        "high": 1.0,
        "interval": _NO_INTERVAL,
        "reproducibility": "tolerance",
        "rtol": 1e-6,
        "atol": 1e-6,
        "references": (SCIB,),
        "example": f"{_EXAMPLES}:cells",
        **more,
    }
    return MetricSpec(name=name, summary=summary, compute=f"{_PLACE}.{module}:{name}", **settings)  # type: ignore[arg-type]


silhouette_label = _metric(
    "silhouette_label",
    "silhouettes",
    "How compact and separate cell types are, as a silhouette scaled to 0-1.",
    ("label",),
    low=-1.0,
    parameters=(Parameter("rescale", True, "(s + 1)/2; else s from -1 to 1", kinds=(bool,)),),
)
silhouette_batch = _metric(
    "silhouette_batch",
    "silhouettes",
    "How little batches separate inside types, by 1 - |silhouette|; misleads for nested batches.",
    ("label", "batch"),
)
bras = _metric(
    "bras",
    "silhouettes",
    "How little batches separate inside types, by cosine distance to the mean of other batches.",
    ("label", "batch"),
    references=(BRAS,),
)
isolated_labels_asw = _metric(
    "isolated_labels_asw",
    "silhouettes",
    "Silhouette of the types that occur in the fewest batches.",
    ("label", "batch"),
    parameters=(_ISOLATED,),
)
isolated_labels_f1 = _metric(
    "isolated_labels_f1",
    "clusters",
    "Best F1 of a cluster for the types that occur in the fewest batches.",
    ("label", "batch"),
    parameters=(_param_k(15), _ISOLATED, _SEARCH),
    libraries=("graspologic-native",),
    references=(SCIB, LEIDEN),
)

_NEAR = (
    Parameter("perplexity", None, "effective neighbours, below k; by default floor(k / 3)", kinds=(float,), low=1.0),
    _SELF,
    _SEARCH,
)
ilisi = _metric(
    "ilisi",
    "lisi",
    "Effective number of batches around a cell, scaled to 0-1.",
    ("batch",),
    parameters=(_param_k(90), *_NEAR),
    references=(LISI, SCIB),
    example=f"{_EXAMPLES}:near",
)
clisi = _metric(
    "clisi",
    "lisi",
    "How pure neighbourhoods are in type, from the effective number of types.",
    ("label",),
    parameters=(_param_k(90), *_NEAR),
    references=(LISI, SCIB),
    example=f"{_EXAMPLES}:near",
)
entropy_per_cell = _metric(
    "entropy_per_cell",
    "lisi",
    "Entropy of the batches of the nearest cells, over that of equal shares.",
    ("batch",),
    parameters=(_param_k(200), _SEARCH),
    references=("Chan Zuckerberg Initiative (2025) cz-benchmarks",),
    example=f"{_EXAMPLES}:near",
)
kbet = _metric(
    "kbet",
    "kbet",
    "Share of neighbourhoods inside a type whose batches are as frequent as in the type.",
    ("label", "batch"),
    parameters=(_ALPHA,),
    references=(KBET, SCIB),
)
kbet_fixed_k = _metric(
    "kbet_fixed_k",
    "kbet",
    "Share of neighbourhoods of one size whose batches are as frequent as in all cells.",
    ("batch",),
    parameters=(_param_k(50), _ALPHA, _SEARCH),
    references=(KBET,),
    example=f"{_EXAMPLES}:near",
)
graph_connectivity = _metric(
    "graph_connectivity",
    "clusters",
    "Share of a type that hangs together in the graph of neighbours.",
    ("label",),
    parameters=(_param_k(15), _SELF, _SEARCH),
)
nmi_kmeans = _metric(
    "nmi_kmeans",
    "clusters",
    "NMI of types and k-means with as many clusters.",
    ("label",),
    parameters=(_STARTS,),
    libraries=("scikit-learn",),
    atol=1e-3,
)
ari_kmeans = _metric(
    "ari_kmeans",
    "clusters",
    "ARI of types and k-means with as many clusters.",
    ("label",),
    low=-0.5,
    parameters=(_STARTS,),
    libraries=("scikit-learn",),
    atol=1e-3,
)
nmi_leiden = _metric(
    "nmi_leiden",
    "clusters",
    "NMI of types and Leiden clusters at the best of twenty resolutions.",
    ("label",),
    parameters=(_param_k(15), _SEARCH),
    libraries=("graspologic-native",),
    references=(SCIB, LEIDEN),
    atol=1e-3,
)
ari_leiden = _metric(
    "ari_leiden",
    "clusters",
    "ARI of types and Leiden clusters at the resolution with the best NMI.",
    ("label",),
    low=-0.5,
    parameters=(_param_k(15), _SEARCH),
    libraries=("graspologic-native",),
    references=(SCIB, LEIDEN),
    atol=1e-3,
)
pcr_comparison = _metric(
    "pcr_comparison",
    "variance",
    "How much less of the variance batches explain after integration than before.",
    ("batch",),
    low=None,
    parameters=(_COMPONENTS, Parameter("clip", True, "not below 0", kinds=(bool,))),
    references=(KBET, SCIB),
)
bio_score = _metric(
    "bio_score",
    "panel",
    "Mean of what the panel says about biology that is kept.",
    ("label", "batch"),
    low=-0.1,
    parameters=(_CLUSTERS,),
    libraries=("graspologic-native", "scikit-learn"),
    atol=1e-3,
    example=f"{_EXAMPLES}:panel",
)
batch_score = _metric(
    "batch_score",
    "panel",
    "Mean of what the panel says about batch effects that are gone.",
    ("label", "batch"),
    example=f"{_EXAMPLES}:panel",
)
aggregate_unscaled = _metric(
    "aggregate_unscaled",
    "panel",
    "0.6 of the biology kept and 0.4 of the batch effects gone, without scaling over methods.",
    ("label", "batch"),
    low=-0.1,
    high=None,  # 1 in theory; batches that are not equally large keep every embedding below
    parameters=(_CLUSTERS,),
    libraries=("graspologic-native", "scikit-learn"),
    atol=1e-3,
    example=f"{_EXAMPLES}:panel",
)
cell_cycle_conservation = _metric(
    "cell_cycle_conservation",
    "variance",
    "How much of the variance that the cell cycle explains is kept inside batches.",
    (),
    truth=(BATCH, (BEFORE, EXPRESSION), CELL_CYCLE),
    parameters=(_COMPONENTS,),
    example=f"{_EXAMPLES}:cycling",
)
trajectory_conservation = _metric(
    "trajectory_conservation",
    "pseudotime",
    "Rank agreement of a curated pseudotime and that of the integrated graph, scaled to 0-1.",
    (),
    truth=(PSEUDOTIME_WHERE_CURATED,),
    parameters=(_param_k(15), _SEARCH),
    references=(SCIB, "Haghverdi et al. (2016) Nat Methods 13:845, doi:10.1038/nmeth.3971"),
    example=f"{_EXAMPLES}:along_a_line",
)
hvg_overlap = _metric(
    "hvg_overlap",
    "genes",
    "Share of the highly variable genes of each batch that a corrected matrix keeps.",
    (),
    prediction=(CORRECTED,),
    truth=(BATCH, EXPRESSION),
    parameters=(
        Parameter("n_genes", 500, "genes of each batch, at most half of those expressed", kinds=(int,), low=1),
    ),
    references=(SCIB, "Zheng et al. (2017) Nat Commun 8:14049, doi:10.1038/ncomms14049"),
    example=f"{_EXAMPLES}:corrected",
    reproducibility="exact",
    rtol=0.0,
    atol=0.0,
)

_COUNTED = {
    "prediction": (RATE,),
    "truth": (COUNTS, ROLE),
    "interval": Interval(),
    "example": f"{_EXAMPLES}:expected",
    "references": ("McCullagh & Nelder (1989) Generalized Linear Models, 2nd ed., ISBN 0412317605",),
}
poisson_deviance = _metric(
    "poisson_deviance",
    "reconstruction",
    "Poisson deviance of the counts of held-out cells, mean over genes.",
    (),
    direction="lower",
    high=None,
    **_COUNTED,
)
nb_deviance = _metric(
    "nb_deviance",
    "reconstruction",
    "Negative-binomial deviance of the counts of held-out cells, one dispersion for all, mean over genes.",
    (),
    direction="lower",
    high=None,
    parameters=(Parameter("theta", 10.0, "inverse dispersion: variance m + m²/theta", kinds=(float,), low=1e-6),),
    **_COUNTED,
)
reconstruction_pearson = _metric(
    "reconstruction_pearson",
    "reconstruction",
    "Correlation of measured and expected log-normalised profiles of held-out cells.",
    (),
    low=-1.0,
    **_COUNTED,
)
