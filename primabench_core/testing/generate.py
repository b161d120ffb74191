"""Inputs of a metric made from the fields that it declares: seeded, small, and of several shapes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from attrs import evolve, frozen
from numpy.typing import NDArray

from primabench_core.contract.fields import Field
from primabench_core.contract.ragged import Ragged
from primabench_core.spec.metric import MetricSpec

N = 41
"""Rows of a case; odd and not a multiple of any shard."""
COORDS = ("classes", "genes")
GENES = ("gene_b", "gene_a", "gene_c")
"""Columns of a two-dimensional field, not in sorted order."""

Label = str | int
Data = Mapping[str, Any]


@frozen
class Setting:
    """What a case is made with."""

    classes: tuple[Label, ...]
    wide: bool
    """Fields that may have one or two dimensions have two."""
    choice: int
    """Which alternative of the prediction fields is used."""
    gaps: bool = False
    """Nullable truth fields have missing answers."""
    keep: tuple[str, ...] | None = None
    """Optional truth fields that are there, None for all."""
    positive: bool = False
    """Numbers without a declared range are positive: some metrics take ratios."""


@frozen(eq=False)
class Case:
    """One input of a metric, and what a perfect prediction of the same truth is."""

    name: str
    prediction: Data
    """Fields, and ``classes`` or ``genes`` where columns have names."""
    truth: Data
    """Likewise, and ``ids``."""
    params: Mapping[str, Any]
    perfect: Data | None = None
    """None where the fields do not tell what is perfect."""
    class_field: str = ""
    """Truth field that holds the classes, empty if there are none."""
    fields: Mapping[str, Field] = {}
    """Declarations of both sides: ``prediction.label``, ``truth.label``."""

    @property
    def ids(self) -> tuple[str, ...]:
        """Names of the rows."""
        return tuple(self.truth["ids"])

    @property
    def n(self) -> int:
        """Rows."""
        return len(self.truth["ids"])

    def rows(self, positions: Sequence[int] | NDArray[np.intp]) -> Case:
        """The same truth and predictions with these rows alone, in this order."""
        perfect = None if self.perfect is None else take(self.perfect, positions)
        return evolve(
            self, prediction=take(self.prediction, positions), truth=take(self.truth, positions), perfect=perfect
        )


def take(data: Data, positions: Sequence[int] | NDArray[np.intp]) -> dict[str, Any]:
    """Rows of every field; names of columns stay."""
    at = np.asarray(positions, np.intp)
    found: dict[str, Any] = {}
    for name, value in data.items():
        if name in COORDS:
            found[name] = value
        elif isinstance(value, Ragged):
            found[name] = value.take(at)
        elif isinstance(value, tuple | list):
            found[name] = tuple(value[i] for i in at)
        else:
            found[name] = value[at]
    return found


def cases_of(spec: MetricSpec, *, seed: int = 20, n: int = N) -> Iterator[Case]:
    """Every case that the declared fields allow; which of them the metric takes is seen by trying.

    Args:
        spec: The metric.
        seed: Seed of all draws.
        n: Rows.
    """
    fields = [f for side in (spec.prediction, spec.truth) for options in side for f in options]
    has_labels = any(f.kind in ("label", "probability") for f in fields)
    has_width = any(f.kind == "value" for f in fields)
    has_gaps = any(f.nullable for options in spec.truth for f in options)
    seen: set[Setting] = set()
    for choice in range(max((len(options) for options in spec.prediction), default=1)):
        for classes, wide in (((0, 1), False), ((0, 1, 2), True), (("ewe", "ant", "cow"), False)):
            setting = Setting(classes if has_labels else (), wide and has_width, choice)
            if setting not in seen:
                seen.add(setting)
                yield make_case(spec, setting, seed=seed, n=n)
    if _optional(spec):
        yield make_case(spec, Setting((0, 1) if has_labels else (), False, 0, keep=()), seed=seed, n=n)
    if has_gaps:
        yield make_case(spec, Setting((0, 1) if has_labels else (), False, 0, gaps=True), seed=seed, n=n)


def special_cases_of(spec: MetricSpec, *, seed: int = 20, n: int = N) -> Iterator[Case]:
    """Cases for a metric that refuses all others: with one optional truth field alone, or of positive numbers."""
    for name in _optional(spec):
        yield make_case(spec, Setting((0, 1), False, 0, keep=(name,)), seed=seed, n=n)
    for wide in (False, True):
        yield make_case(spec, Setting((0, 1), wide, 0, positive=True), seed=seed, n=n)


def _optional(spec: MetricSpec) -> tuple[str, ...]:
    return tuple(options[0].name for options in spec.truth if options[0].optional)


def make_case(spec: MetricSpec, setting: Setting, *, seed: int, n: int) -> Case:
    """One case; the same seed gives the same numbers on every machine."""
    rng = np.random.default_rng([seed, n, setting.choice, len(setting.classes)])
    chosen = {
        "prediction": [options[min(setting.choice, len(options) - 1)] for options in spec.prediction],
        "truth": [
            options[0]
            for options in spec.truth
            if not options[0].optional or setting.keep is None or options[0].name in setting.keep
        ],
    }
    class_field = class_field_of(chosen["truth"])
    truth: dict[str, Any] = {"ids": tuple(f"unit_{i:03d}" for i in range(n))}
    for f in chosen["truth"]:
        truth[f.name] = _truth_field(rng, f, setting, n, f.name == class_field)
    if any(f.kind == "matrix" or (f.kind == "value" and setting.wide) for f in chosen["truth"]):
        truth["genes"] = GENES
    if class_field and any(f.kind == "probability" for f in chosen["prediction"]):
        truth["classes"] = setting.classes
    prediction = _columns_of(
        {f.name: _predicted(rng, f, truth, class_field, setting, n) for f in chosen["prediction"]}, truth, chosen
    )
    params = _parameters(spec, setting.classes if class_field else ())
    perfect: dict[str, Any] | None = {}
    for f in chosen["prediction"]:
        value = _perfect(f, truth, class_field, params, setting)
        if value is None or perfect is None:
            perfect = None
        else:
            perfect[f.name] = value
    if perfect is not None:
        perfect = _columns_of(perfect, truth, chosen)
    if setting.gaps:
        truth = {name: _with_gaps(value, f) for name, value, f in _declared(truth, chosen["truth"])}
    return Case(
        name=_name(setting, chosen["prediction"]),
        prediction=prediction,
        truth=truth,
        params=params,
        perfect=perfect,
        class_field=class_field,
        fields={f"{side}.{f.name}": f for side, found in chosen.items() for f in found},
    )


def class_field_of(fields: Iterable[Field]) -> str:
    """The truth field that holds the classes: ``label``, else the first label that must be there; empty if none is.

    An optional label is a grouping of the rows.
    """
    names = [f.name for f in fields if f.kind == "label" and not isinstance(f.vocabulary, tuple) and not f.optional]
    return "label" if "label" in names else next(iter(names), "")


def _name(setting: Setting, fields: list[Field]) -> str:
    parts = [", ".join(f.name for f in fields)]
    if setting.classes:
        parts.append(
            f"{len(setting.classes)} classes of {'text' if isinstance(setting.classes[0], str) else 'integers'}"
        )
    parts += ["two-dimensional"] * setting.wide + ["missing answers"] * setting.gaps
    parts += [f"optional fields: {', '.join(setting.keep) or 'none'}"] if setting.keep is not None else []
    parts += ["positive numbers"] * setting.positive
    return "; ".join(parts)


def _declared(data: Data, fields: list[Field]) -> Iterator[tuple[str, Any, Field | None]]:
    known = {f.name: f for f in fields}
    for name, value in data.items():
        yield name, value, known.get(name)


def _columns_of(prediction: dict[str, Any], truth: Data, chosen: Mapping[str, list[Field]]) -> dict[str, Any]:
    """The prediction with names of its columns, where the truth has names for them."""
    kinds = {f.kind for f in chosen["prediction"]}
    if "classes" in truth and "probability" in kinds:
        prediction["classes"] = truth["classes"]
    if "genes" in truth and any(
        np.ndim(prediction[f.name]) == 2 and f.kind in ("value", "matrix") for f in chosen["prediction"]
    ):
        prediction["genes"] = truth["genes"]
    return prediction


def _parameters(spec: MetricSpec, classes: tuple[Label, ...]) -> dict[str, Any]:
    """``positive`` written out, as a class that occurs."""
    for parameter in spec.parameters:
        if parameter.name == "positive" and classes:
            return {"positive": parameter.default if parameter.default in classes else classes[1]}
    return {}


def _truth_field(rng: np.random.Generator, f: Field, setting: Setting, n: int, has_classes: bool) -> Any:
    if f.kind == "label":
        if isinstance(f.vocabulary, tuple):
            return _labels(f.vocabulary, np.resize(rng.permutation(len(f.vocabulary)), n))
        if has_classes:
            k = len(setting.classes)
            return _labels(setting.classes, rng.permutation(np.concatenate([np.arange(k), rng.integers(0, k, n - k)])))
        return _labels((0, 1, 2, 3), rng.permutation(np.resize(np.arange(4), n)))
    return draw(rng, _positive(f) if setting.positive else f, n, wide=setting.wide, truth=True)


def _positive(f: Field) -> Field:
    free = f.kind in ("value", "score", "matrix") and f.low is None
    return evolve(f, low=0.1, high=4.0 if f.high is None else f.high) if free else f


def draw(
    rng: np.random.Generator, f: Field, n: int, *, wide: bool = False, width: int = len(GENES), truth: bool = False
) -> Any:
    """Random values of any field but a label, within its declared range."""
    if f.kind == "text":
        return np.asarray(["".join(rng.choice(list("ACGT"), 12)) for _ in range(n)], object)
    if f.kind == "pairs":
        return Ragged.of([np.sort(rng.choice(30, (k, 2), replace=False), 1) for k in rng.integers(1, 5, n)])
    if f.kind == "points":
        return Ragged.of([_points(rng, k)[:, : 3 if truth else 4] for k in rng.integers(1, 5, n)])
    shape = (
        (n, 4) if f.kind == "embedding" else (n, width) if f.kind == "matrix" or (f.kind == "value" and wide) else (n,)
    )
    if f.kind == "matrix" and f.state == "counts":
        return rng.integers(0, 9, shape).astype(np.float64)
    if f.kind == "matrix" and f.state == "log":
        return np.log1p(rng.integers(0, 9, shape))
    if f.low is not None or f.high is not None:
        low = f.low if f.low is not None else (f.high or 0.0) - 4.0
        high = f.high if f.high is not None else low + 4.0
        return rng.uniform(low, high, shape)
    return rng.normal(0.3, 1.0, shape)


def _points(rng: np.random.Generator, k: int) -> NDArray[np.float64]:
    """(k, 4) x, y, class, confidence."""
    place = rng.uniform(0, 100, (k, 2))
    return np.column_stack([place, rng.integers(0, 2, k), rng.random(k)])


def as_predicted(f: Field, answer: Any) -> Any:
    """An answer as a prediction that is sure of it: points have a confidence, their truth has none."""
    if f.kind != "points" or answer.values.shape[1] != 3:
        return answer
    return Ragged(np.column_stack([answer.values, np.ones(len(answer.values))]), answer.counts)


def _predicted(rng: np.random.Generator, f: Field, truth: Data, class_field: str, setting: Setting, n: int) -> Any:
    """A prediction that is right more often than not."""
    codes = _codes(truth, class_field, setting)
    if f.kind == "label":
        if isinstance(f.vocabulary, tuple):
            return _labels(f.vocabulary, rng.integers(0, len(f.vocabulary), n))
        same = truth.get(f.name) if f.vocabulary == "truth" else None
        wrong = rng.random(n) < 0.3
        if same is not None or f.vocabulary == "truth":
            base = np.asarray(same if same is not None else truth[class_field])
            return np.where(wrong, base[rng.permutation(n)], base)
        clusters = np.where(wrong, rng.integers(0, 4, n), (codes if codes is not None else rng.integers(0, 3, n)) + 1)
        is_text = bool(setting.classes) and isinstance(setting.classes[0], str)
        return _labels(tuple(f"group {c}" for c in "dbca") if is_text else (7, 3, 12, 5), clusters)
    if f.kind == "probability":
        logits = rng.normal(0, 1, (n, len(setting.classes)))
        if codes is not None:
            logits[np.arange(n), codes] += 1.5
        odds = np.exp(logits)
        return odds / odds.sum(1, keepdims=True)
    twin = truth.get(f.name)
    if twin is None:
        twin = next((v for v in truth.values() if isinstance(v, np.ndarray) and v.dtype.kind == "f"), None)
    values = draw(rng, _positive(f) if setting.positive else f, n, wide=setting.wide)
    if f.kind in ("score", "value", "matrix") and twin is not None and np.shape(twin) == np.shape(values):
        mixed = 0.7 * twin + 0.3 * values
        return np.round(mixed) if f.state == "counts" else mixed
    if f.kind == "score" and codes is not None and f.low is None:
        return values + codes
    if f.kind == "embedding" and codes is not None:
        values[:, 0] += 2.0 * codes
    return values


def _perfect(f: Field, truth: Data, class_field: str, params: Mapping[str, Any], setting: Setting) -> Any:
    """What the field is if the model is never wrong; None where that cannot be said."""
    twin = truth.get(f.name)
    if f.kind == "label":
        if twin is not None:
            return twin
        return truth[class_field] if class_field and not isinstance(f.vocabulary, tuple) else None
    if f.kind == "probability" and class_field:
        return np.eye(len(setting.classes))[_codes(truth, class_field, setting)]
    if f.kind == "score" and class_field:
        positive = params.get("positive", 1)
        return (np.asarray(truth[class_field]) == positive).astype(np.float64)
    if f.kind in ("score", "value", "matrix", "text", "points", "pairs"):
        if twin is not None:
            return as_predicted(f, twin)
        other = next((v for v in truth.values() if isinstance(v, np.ndarray) and v.dtype.kind == "f"), None)
        return other if f.kind == "score" and other is not None and other.ndim == 1 else None
    return None


def _codes(truth: Data, class_field: str, setting: Setting) -> Any:
    if not class_field:
        return None
    at = {c: i for i, c in enumerate(setting.classes)}
    return np.asarray([at[v] for v in truth[class_field]])


def _labels(classes: tuple[Label, ...], codes: NDArray[Any]) -> NDArray[Any]:
    kind: Any = object if isinstance(classes[0], str) else np.int64
    found: NDArray[Any] = np.asarray(classes, kind)[codes]
    return found


def _with_gaps(value: Any, f: Field | None) -> Any:
    """Every seventh answer missing, where the field may miss answers."""
    if f is None or not f.nullable or isinstance(value, Ragged):
        return value
    if f.kind in ("label", "text"):
        found = np.asarray(value, object).copy()
        found[::7] = None
        return found
    found = value.copy()
    found[::7] = np.nan
    return found
