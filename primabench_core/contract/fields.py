"""What a field of predictions or truth looks like, declared as a value.

This module stays light: plugins import it to declare themselves, and listing must not load an array library.
"""

from __future__ import annotations

from typing import Literal, get_args

from attrs import field, frozen, validators

Kind = Literal["label", "score", "probability", "value", "embedding", "matrix", "points", "pairs", "text"]
"""The kinds of field.

========== ============================ =====================================================================
label      1-D, integers or text        a class, a cluster, a batch, a fold, a group
score      1-D, real                    higher is more positive; never transformed
probability 2-D, rows x classes         each row in [0, 1], sums to 1 within 1e-6
value      1-D, or 2-D rows x features  real numbers in the units of the field
embedding  2-D, rows x dimensions       width is the model's choice, constant over a run
matrix     2-D, rows x named columns    dense or sparse; columns are joined by name
points     ragged, n_i x k per row      detections of an image (CF contiguous ragged array)
pairs      ragged, n_i x 2 per row      base pairs of a molecule, i < j
text       1-D, text                    a sequence, a structure string
========== ============================ =====================================================================
"""

RESERVED_NAMES = frozenset({"ids", "positions", "predictions", "classes", "genes"})
"""Names that arguments and coordinates use; no field may be called so."""


@frozen
class Field:
    """One named field: kind, range, units, vocabulary.

    Example:
        >>> Field("label", "label", vocabulary="truth").dims
        1
    """

    name: str = field(validator=validators.instance_of(str))
    """Name, a Python identifier; canonical names are listed in the docs."""
    kind: Kind = field(validator=validators.in_(get_args(Kind)))
    doc: str = field(default="", kw_only=True)
    """One line for the card."""
    vocabulary: Literal["truth", "open"] | tuple[str | int, ...] = field(default="open", kw_only=True)
    """Labels: ``truth`` = the classes of the solution (its ``classes`` coordinate, else those that occur),
    ``open`` = any, or an explicit tuple."""
    low: float | None = field(default=None, kw_only=True)
    """Smallest allowed number."""
    high: float | None = field(default=None, kw_only=True)
    """Largest allowed number."""
    units: str = field(default="", kw_only=True)
    """Physical or processing units, such as ``log1p(CPM)``."""
    coord: str = field(default="", kw_only=True)
    """Name of the coordinate that labels the columns: ``classes`` (probabilities), ``genes`` …; empty if none."""
    nullable: bool = field(default=False, kw_only=True)
    """A solution field: a missing truth takes the unit out of the metric and is counted."""
    optional: bool = field(default=False, kw_only=True)
    """The field may be absent."""
    public: bool = field(default=False, kw_only=True)
    """A solution field that is no answer but what rows are grouped by (chromosome, batch): test data may hold it."""
    state: Literal["", "counts", "log"] = field(default="", kw_only=True)
    """A matrix: its declared normalisation; ``counts`` refuses non-integers and negatives, ``log`` refuses
    negatives. Never guessed from values."""

    @name.validator
    def _check_name(self, _: object, value: str) -> None:
        if not value.isidentifier() or value in RESERVED_NAMES:
            raise ValueError(f"field name {value!r} must be an identifier other than {sorted(RESERVED_NAMES)}")

    @property
    def dims(self) -> int | None:
        """Number of dimensions; None where one or two are legal (``value``) or rows are ragged."""
        return {"label": 1, "score": 1, "text": 1, "probability": 2, "embedding": 2, "matrix": 2}.get(self.kind)

    @property
    def is_ragged(self) -> bool:
        """Rows hold a varying number of entries."""
        return self.kind in ("points", "pairs")
