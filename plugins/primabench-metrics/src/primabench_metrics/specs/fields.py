"""Fields and parameters that several families share."""

from __future__ import annotations

from primabench_core.spec import Field, Parameter

PREDICTED_LABEL = Field("label", "label", vocabulary="truth", doc="predicted class of each row")
TRUE_LABEL = Field("label", "label", doc="true class of each row")
SCORE = Field("score", "score", doc="higher means more positive; used as it is")
PROBABILITY = Field("probability", "probability", coord="classes", doc="probability of each class, rows sum to 1")
PREDICTED_VALUE = Field("value", "value", doc="predicted numbers, one or one a feature")
TRUE_VALUE = Field("value", "value", doc="measured numbers, one or one a feature")
CLUSTER = Field("cluster", "label", vocabulary="open", doc="predicted cluster of each row; names carry no meaning")
GROUP = Field("group", "label", doc="the pair, query or list that a row belongs to")
OPTIONAL_GROUP = Field("group", "label", doc="the query or list that a row belongs to", optional=True)
EMBEDDING = Field("embedding", "embedding", doc="one vector a row")

POSITIVE = Parameter("positive", 1, "the positive class", kinds=(int, str))
POLICY = Parameter(
    "policy",
    "strict",
    "what an undefined part does to the mean of parts",
    choices=("strict", "defined_only", "penalise_constant_prediction"),
)
