"""Fields that tasks and metrics of this distribution share."""

from __future__ import annotations

from primabench_core.spec import Field

SCORE = Field("score", "score", doc="higher means more likely pathogenic or causal: hand in -LLR, not LLR")
LABEL = Field("label", "label", doc="1: pathogenic or causal, 0: not")
CHROMOSOME = Field("chromosome", "label", doc="chromosome of the variant", public=True)
GENE = Field("gene", "label", doc="gene of the variant", optional=True, public=True)
EFFECT = Field("value", "value", doc="predicted effect of the alternative against the reference allele, with its sign")
TRUE_EFFECT = Field("value", "value", doc="measured effect, such as a log fold change, with its sign")
SIGNIFICANT = Field(
    "significant",
    "label",
    doc="1: the measured effect is significant, 0: it is not",
    vocabulary=(0, 1),
    optional=True,
)
CALLED = Field("label", "label", vocabulary="truth", doc="predicted class")
CLASS = Field("label", "label", doc="class of the sequence")
FOLD = Field("fold", "label", doc="fold of cross-validation", optional=True)
TRACKS = Field("value", "value", doc="predicted signal, bins x tracks", coord="genes")
TRUE_TRACKS = Field("value", "value", doc="measured signal, bins x tracks; tracks are named by `genes`", coord="genes")
REGION = Field("region", "label", doc="the region that a bin belongs to", public=True)
PEAK = Field(
    "peak",
    "value",
    doc="bins x tracks: 1 in a peak, 0 outside, -100 where there is no answer",
    low=-100.0,
    high=1.0,
    optional=True,
)
SEEN = Field(
    "seen",
    "label",
    doc="what training holds of a test sequence: nothing, a copy, its other strand, a near duplicate",
    vocabulary=("no", "exact", "reverse_complement", "near"),
    optional=True,
)
GROUP = Field("group", "label", doc="rows that are one sequence, on either strand", optional=True)
