"""Metrics of other libraries, so that a team can bring its own. Public as ``pb.foreign``.

A function of scikit-learn or a metric of torchmetrics becomes a value that stands wherever a metric is named:
``pb.score``, ``pb.stream``, ``pb.Evaluation(metrics=[…])``. PrimaBench checks, aligns and places the rows; the library
computes. Results carry ``foreign=True`` and the library's version. What the library does, PrimaBench does not vouch
for: torchmetrics, for one, puts scores outside [0, 1] through a sigmoid.

Neither library is imported here: the caller hands over what it has imported.
"""

from __future__ import annotations

import copy
import inspect
import warnings
from collections.abc import Callable, Mapping
from functools import reduce
from importlib import import_module
from typing import Any, Literal

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from primabench_core.contract.fields import Field
from primabench_core.contract.vocabulary import label_order
from primabench_core.discovery import names
from primabench_core.discovery.metrics import ResolvedMetric
from primabench_core.errors import ParameterError, UsageError
from primabench_core.result.plain import plain
from primabench_core.spec.metric import Interval, MetricSpec
from primabench_core.spec.outcome import Outcome
from primabench_core.state.rows import Column, Labels, Ragged, Rows

__all__ = ["from_sklearn", "from_torchmetrics"]

Direction = Literal["higher", "lower", "info"]

_PREDICTION = {
    "label": Field("label", "label", vocabulary="truth"),
    "score": Field("score", "score"),
    "probability": Field("probability", "probability", coord="classes"),
    "value": Field("value", "value"),
    "embedding": Field("embedding", "embedding"),
    "cluster": Field("cluster", "label"),
}
_TRUTH = {"label": Field("label", "label"), "value": Field("value", "value")}
_WAYS: dict[str, Direction] = {"True": "higher", "False": "lower"}
_DISTRIBUTIONS = {"sklearn": "scikit-learn"}


def from_sklearn(
    function: Callable[..., Any],
    *,
    name: str,
    prediction: str | Field,
    truth: str | Field,
    direction: Direction | None,
    low: float | None = None,
    high: float | None = None,
    params: Mapping[str, Any] | None = None,
    prediction_first: bool = False,
    interval: Interval | None = None,
    reproducibility: Literal["exact", "tolerance"] = "tolerance",
    rtol: float = 1e-9,
) -> ResolvedMetric:
    """A metric from a function ``f(truth, prediction, **params)``, as those of ``sklearn.metrics`` are, or a scorer.

    Labels come as they are (integers, or text). Probabilities come with their columns in the sorted order of the
    classes, which scikit-learn assumes, and a function that takes ``labels`` is told them. NaN with a warning that the
    metric is undefined gives an undefined result, any other NaN and any exception a failed one.

    A function that is not part of an installed distribution works on a truth of your own only: the solution of a
    dataset is not handed to it. To score tasks with it, write a plugin.

    Args:
        function: The function, or a scorer made by ``sklearn.metrics.make_scorer`` (its sign is kept, so that higher
            is better; its own parameters are taken).
        name: Name in results; no installed metric may have it.
        prediction: What it reads of the prediction: ``label``, ``score``, ``probability``, ``value``, ``embedding``,
            ``cluster``, or a :class:`~primabench_core.spec.Field`.
        truth: ``label``, ``value`` or a Field.
        direction: Which way is better; None if neither (it is then never ranked).
        low: Smallest possible value, None if unbounded or unknown.
        high: Largest possible value, None if unbounded or unknown.
        params: Keyword arguments of the function: numbers, text, lists; they stand in the result.
        prediction_first: It is called ``f(prediction, truth)``, as ``silhouette_score`` is.
        interval: How an interval is made; by default rows are resampled.
        reproducibility: ``exact`` only if the function gives the same bits on every machine.
        rtol: Relative tolerance, for ``tolerance``.

    Returns:
        A value to be put where a metric is named.

    Raises:
        UsageError: the name is taken or no identifier, or a field is of no known kind.
        ParameterError: a parameter cannot be written to a result.

    Example:
        >>> def share_of_ones(truth, prediction):
        ...     return float((prediction == 1).mean())
        >>> metric = from_sklearn(share_of_ones, name="ones", prediction="label", truth="label", direction=None)
        >>> metric.spec.direction, metric.foreign
        ('info', True)
    """
    given = dict(params or {})
    sign = 1.0
    if hasattr(function, "_score_func"):
        scorer: Any = function
        function, sign, given = scorer._score_func, float(scorer._sign), {**scorer._kwargs, **given}
        if direction != "higher":
            raise UsageError(f"{name!r} is a scorer, of which higher is better.", remedy="direction='higher'")
    if not callable(function) or isinstance(function, type):
        raise UsageError(f"from_sklearn takes a function or a scorer, got {_shown(function)}.")
    fields = _field(prediction, _PREDICTION, "prediction"), _field(truth, _TRUTH, "truth")
    takes_labels = fields[0].kind == "probability" and "labels" in _arguments_of(function)
    call = _SklearnCall(function, sign, fields[0], fields[1], prediction_first, takes_labels)
    return _metric(
        call, function, name, fields, given,
        direction=direction or "info", low=low, high=high, interval=interval, reproducibility=reproducibility,
        rtol=rtol,
    )  # fmt: skip


def from_torchmetrics(
    metric: Any,
    *,
    name: str,
    prediction: str | Field,
    truth: str | Field,
    direction: Direction | None = None,
    low: float | None = None,
    high: float | None = None,
    params: Mapping[str, Any] | None = None,
    interval: Interval | None = None,
    reproducibility: Literal["exact", "tolerance"] = "tolerance",
    rtol: float = 1e-6,
) -> ResolvedMetric:
    """A metric from a class or an object with ``update(preds, target)`` and ``compute()``, as torchmetrics has them.

    Every score is computed by a fresh object (a reset copy of the one given), so that nothing of a truth stays in
    yours. Numbers come as float64 tensors. Integer labels come as they are, text labels as their place among the
    classes of the truth; beside probabilities, labels come as the place of their column.

    Args:
        metric: The class (``params`` are its arguments), or an object (its own arguments are recorded).
        name: As for :func:`from_sklearn`, as all that follow.
        prediction: What ``preds`` is.
        truth: What ``target`` is.
        direction: Which way is better; None for what the metric says itself (``higher_is_better``).
        low: Smallest possible value.
        high: Largest possible value.
        params: Arguments of the class.
        interval: How an interval is made.
        reproducibility: Usually ``tolerance``.
        rtol: Relative tolerance.

    Raises:
        UsageError: as :func:`from_sklearn`; or params are given for an object.
        ParameterError: a parameter cannot be written to a result.

    Example:
        >>> from torchmetrics.classification import MulticlassF1Score  # doctest: +SKIP
        >>> f1 = from_torchmetrics(
        ...     MulticlassF1Score, name="tm_f1", prediction="label", truth="label", params={"num_classes": 3}
        ... )  # doctest: +SKIP
    """
    is_class = isinstance(metric, type)
    if not all(callable(getattr(metric, part, None)) for part in ("update", "compute", "reset")):
        raise UsageError(f"{name!r}: expected a metric with update, compute and reset, got {_shown(metric)}.")
    if params and not is_class:
        raise UsageError(f"{name!r}: params belong to a class; the object already has its own.")
    given = dict(params or {}) if is_class else _arguments_kept(metric)
    fields = _field(prediction, _PREDICTION, "prediction"), _field(truth, _TRUTH, "truth")
    way = direction or _WAYS.get(str(getattr(metric, "higher_is_better", None)), "info")
    call = _TorchCall(metric if is_class else copy.deepcopy(metric), is_class, fields[0], fields[1])
    return _metric(
        call, metric if is_class else type(metric), name, fields, given,
        direction=way, low=low, high=high, interval=interval, reproducibility=reproducibility, rtol=rtol,
    )  # fmt: skip


# -- the metric as a value ---------------------------------------------------------------------------------------------


def _metric(
    call: Callable[..., Any], source: Any, name: str, fields: tuple[Field, Field], params: dict[str, Any], **about: Any
) -> ResolvedMetric:
    if not isinstance(name, str) or not name.isidentifier():
        raise UsageError(f"The name of a metric is an identifier, got {name!r}.")
    if name in names.names("metric"):
        raise UsageError(
            f"{name!r} is the name of an installed metric.", remedy=f"choose another one, such as 'my_{name}'"
        )
    try:
        params = plain(params, name)
    except (TypeError, ValueError) as error:
        raise ParameterError(f"A parameter of {name!r} cannot be written to a result: {error}.") from error
    distribution, version = _owner(source)
    if about["reproducibility"] == "exact":
        about["rtol"] = 0.0
    about["interval"] = about["interval"] or Interval()
    spec = MetricSpec(
        name=name,
        summary=f"{_reference(source)}, through an adapter.",
        compute=_reference(source),
        prediction=(fields[0],),
        truth=(fields[1],),
        libraries=(distribution,) if distribution else (),
        **about,
    )
    return ResolvedMetric(spec, name, params, distribution, version, function=call)


def _field(given: str | Field, known: Mapping[str, Field], side: str) -> Field:
    if isinstance(given, Field):
        if given.is_ragged or given.kind == "text":
            raise UsageError(f"{side}={given.name!r}: a field of kind {given.kind!r} cannot go through an adapter.")
        return given
    if given not in known:
        raise UsageError(f"{side} is one of {', '.join(map(repr, known))} or a Field, got {given!r}.")
    return known[given]


def _reference(source: Any) -> str:
    kind = source if hasattr(source, "__qualname__") else type(source)
    return f"{kind.__module__}:{kind.__qualname__}"


def _owner(source: Any) -> tuple[str, str]:
    """Distribution and version that a function or class is part of, empty if it is the caller's own."""
    module, _, path = _reference(source).partition(":")
    try:
        if reduce(getattr, path.split("."), import_module(module)) is not source:
            return "", ""
    except (ImportError, AttributeError):  # defined inside a function, say
        return "", ""
    root = module.partition(".")[0]
    distribution = _DISTRIBUTIONS.get(root, root)
    version = names.version_of(distribution)
    return (distribution, version) if version else ("", "")


def _arguments_of(function: Callable[..., Any]) -> frozenset[str]:
    try:
        return frozenset(inspect.signature(function).parameters)
    except (TypeError, ValueError):  # written in C
        return frozenset()


def _arguments_kept(metric: Any) -> dict[str, Any]:
    """Constructor arguments that an object still has as attributes, for the record."""
    kept = {}
    for argument in sorted(_arguments_of(type(metric))):
        value = getattr(metric, argument, None)
        if isinstance(value, bool | int | float | str):
            kept[argument] = value
    return kept


def _shown(value: Any) -> str:
    return f"the class {value.__name__}" if isinstance(value, type) else f"a {type(value).__name__}"


# -- calling the library -----------------------------------------------------------------------------------------------


@frozen(eq=False)
class _SklearnCall:
    function: Callable[..., Any]
    sign: float
    prediction: Field
    truth: Field
    prediction_first: bool
    takes_labels: bool

    def __call__(self, state: Rows, /, **params: Any) -> Outcome:
        if not state.n:
            return Outcome.undefined("too_few_items", "there are no rows", n=0)
        predicted = _values(state.prediction[self.prediction.name])
        if self.prediction.kind == "probability" and state.classes is not None:
            classes = state.classes
            order = sorted(range(len(classes)), key=lambda i: label_order(classes[i]))
            predicted = predicted[:, order]
            if self.takes_labels:
                params.setdefault("labels", [classes[i] for i in order])
        arguments = [_values(state.truth[self.truth.name]), predicted]
        if self.prediction_first:
            arguments.reverse()
        return _outcome(lambda: self.function(*arguments, **params), self.sign)


@frozen(eq=False)
class _TorchCall:
    metric: Any
    is_class: bool
    prediction: Field
    truth: Field

    def __call__(self, state: Rows, /, **params: Any) -> Outcome:
        if not state.n:
            return Outcome.undefined("too_few_items", "there are no rows", n=0)
        import torch

        target = state.truth[self.truth.name]
        if self.prediction.kind == "probability" and isinstance(target, Labels):
            at = {c: i for i, c in enumerate(state.classes or target.classes)}
            places = np.asarray([at[c] for c in target.classes], np.int64)[target.codes]
        else:
            places = _numbers(target)
        tensors = [torch.from_numpy(a) for a in (_numbers(state.prediction[self.prediction.name]), places)]

        def compute() -> Any:
            run = self.metric(**params) if self.is_class else copy.deepcopy(self.metric)
            run.reset()
            run.update(*tensors)
            return run.compute()

        return _outcome(compute, 1.0)


def _values(column: Column) -> NDArray[Any]:
    """An array of the library's own, so that it cannot change what other metrics read."""
    if isinstance(column, Ragged):
        raise TypeError("a ragged field cannot go through an adapter")
    return column.values() if isinstance(column, Labels) else np.array(column)


def _numbers(column: Column) -> NDArray[Any]:
    if isinstance(column, Labels):
        values = column.values()
        return column.codes.copy() if values.dtype == object else values
    return _values(column).astype(np.float64)


def _outcome(compute: Callable[[], Any], sign: float) -> Outcome:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = compute()
    # names of warnings only: their texts may quote a private truth
    flags = tuple(sorted({w.category.__name__ for w in caught if not issubclass(w.category, DeprecationWarning)}))
    size = int(np.prod(getattr(found, "shape", ())))
    if size != 1 or isinstance(found, str | bytes | bool) or not hasattr(found, "__float__"):
        shape = f" of shape {tuple(found.shape)}" if getattr(found, "shape", ()) else ""
        raise TypeError(f"it returned a {type(found).__name__}{shape}, not one number; choose an average in params")
    value = sign * float(found)
    if np.isnan(value) and any("Undefined" in flag for flag in flags):
        return Outcome.undefined("numerical_failure", "the library says that it is undefined here", flags=flags)
    return Outcome(value, flags=flags)
