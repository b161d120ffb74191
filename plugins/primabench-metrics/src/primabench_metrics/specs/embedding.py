"""Metrics of how true classes separate in an embedding."""

from __future__ import annotations

from primabench_core.spec import Interval, MetricSpec, Parameter
from primabench_metrics.specs.fields import EMBEDDING, TRUE_LABEL

_MODULE = "primabench_metrics.embedding"
_NO_INTERVAL = Interval("none", "a row drawn twice is at distance 0 of itself, which tightens every class")

silhouette = MetricSpec(
    name="silhouette",
    summary="How much nearer rows are to their own class than to the next one.",
    compute=f"{_MODULE}:silhouette",
    prediction=(EMBEDDING,),
    truth=(TRUE_LABEL,),
    low=-1.0,
    high=1.0,
    parameters=(Parameter("distance", "euclidean", "between rows of the embedding", choices=("euclidean", "cosine")),),
    interval=_NO_INTERVAL,
    reproducibility="tolerance",
    rtol=1e-7,
    atol=1e-7,
    references=("Rousseeuw (1987) J Comput Appl Math 20:53, doi:10.1016/0377-0427(87)90125-7",),
)

calinski_harabasz = MetricSpec(
    name="calinski_harabasz",
    summary="Spread between classes over the spread inside them.",
    compute=f"{_MODULE}:calinski_harabasz",
    prediction=(EMBEDDING,),
    truth=(TRUE_LABEL,),
    low=0.0,
    interval=_NO_INTERVAL,
    references=("Calinski & Harabasz (1974) Commun Stat 3:1, doi:10.1080/03610927408827101",),
)

davies_bouldin = MetricSpec(
    name="davies_bouldin",
    summary="How wide classes are against the distance of their centres, for the worst partner of each.",
    compute=f"{_MODULE}:davies_bouldin",
    prediction=(EMBEDDING,),
    truth=(TRUE_LABEL,),
    direction="lower",
    low=0.0,
    interval=_NO_INTERVAL,
    references=("Davies & Bouldin (1979) IEEE TPAMI 1:224, doi:10.1109/TPAMI.1979.4766909",),
)
