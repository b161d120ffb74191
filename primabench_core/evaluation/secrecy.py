"""What may be said over the solution of a dataset: names of classes that only it has stay unsaid.

A name is *told* if it stands in the contract, in a public split (a coordinate, a label of the training rows, a column
of text), in the parameters of the metric, or among the labels that the caller predicted. All other classes of a private
truth go by one name together, :data:`POOLED`, in results, pictures and messages. Whole numbers are codes, not names.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import evolve

from primabench_core.contract.violations import Violation
from primabench_core.errors import ContractError, PrimaBenchError
from primabench_core.spec.outcome import Outcome
from primabench_core.state.rows import Labels, OnDemand

if TYPE_CHECKING:
    from primabench_core.evaluation.plan import MetricPlan
    from primabench_core.evaluation.truth import Truth
    from primabench_core.evaluation.views import Views

POOLED = "classes that only the solution names"
_WORD = re.compile(r"\w+")
_NUMBER = re.compile(r"-?\d+\.\d+(?:[eE][-+]?\d+)?")


class Secrecy:
    """Takes what only a private truth knows out of what is said about it.

    Args:
        truth: The truth; over one of the caller's own nothing is taken out.
        said: Names that the caller used.

    Example:
        >>> from primabench_core.contract.evaldata import EvalData
        >>> from primabench_core.evaluation.truth import Truth
        >>> from primabench_core.spec import Contract, Field
        >>> contract = Contract(prediction=(), solution=(Field("label", "label"),))
        >>> truth = Truth(EvalData({"label": ["rare", "b"]}), contract, private=True, told=frozenset({"b"}))
        >>> dict(Secrecy(truth).outcome(Outcome(0.5, per_unit={"b": 1.0, "rare": 0.0})).per_unit)
        {'b': 1.0, 'classes that only the solution names': 0.0}
    """

    def __init__(self, truth: Truth, said: Iterable[str] = ()) -> None:
        self._truth, self._said = truth, frozenset(said)
        self.names: frozenset[str] = truth.untold - self._said

    @classmethod
    def over(cls, views: Views, plan: MetricPlan) -> Secrecy:
        """For one metric over predictions."""
        if not views.truth.untold:
            return cls(views.truth)
        said = set(map(str, plan.metric.params.values()))
        told = not views.truth.told_by_oracle and not isinstance(views.prediction, OnDemand)  # numbers say no names
        for column in views.prediction.values() if told else ():
            if isinstance(column, Labels):
                said.update(predicted_names(column))
        return cls(views.truth, said)

    @cached_property
    def _by_word(self) -> dict[str, list[tuple[str, int]]]:
        """Names by their longest word, with its place in the name: a text is searched in one pass over its words."""
        found: dict[str, list[tuple[str, int]]] = defaultdict(list)
        for name in sorted(self.names):
            words = list(_WORD.finditer(name))
            if words:
                longest = max(words, key=lambda word: (len(word.group()), word.start()))
                found[longest.group()].append((name, longest.start()))
        return found

    def _places(self, text: str) -> list[tuple[int, int]]:
        """Where names stand in a text as words of their own, from left to right, the longest first."""
        places = []
        for word in _WORD.finditer(text):
            for name, offset in self._by_word.get(word.group(), ()):
                start = word.start() - offset
                if start >= 0 and text.startswith(name, start) and _is_apart(text, start, start + len(name)):
                    places.append((start, start + len(name)))
        return sorted(places, key=lambda place: (place[0], -place[1]))

    def hides(self, name: str) -> bool:
        """Whether a name must not be said, by itself or inside of a longer one."""
        return name not in self._said and (name in self.names or bool(self.names and self._places(name)))

    def text(self, text: str) -> str:
        """A sentence without names and numbers of the truth."""
        if not self._truth.private:
            return text
        while self.names and (places := self._places(text)):  # a name may come to stand apart when its neighbour goes
            done, parts = 0, []
            for start, stop in places:
                if start >= done:
                    parts += [text[done:start], "…"]
                    done = stop
            text = "".join([*parts, text[done:]])
        return _NUMBER.sub(lambda found: "…" if self._is_answer(found.group()) else found.group(), text)

    def _is_answer(self, number: str) -> bool:
        if float(number).is_integer():
            return False
        columns = [c for c in self._truth.columns.values() if isinstance(c, np.ndarray) and c.dtype.kind == "f"]
        return any(bool((column == column.dtype.type(number)).any()) for column in columns)

    def outcome(self, found: Outcome | float) -> Outcome | float:
        """What a metric returned, with the classes that nobody was told of pooled."""
        if not isinstance(found, Outcome) or not self._truth.private:
            return found
        if not self.names:
            return evolve(found, detail=self.text(found.detail)) if found.detail else found
        return evolve(
            found,
            detail=self.text(found.detail),
            flags=tuple(dict.fromkeys(map(self.text, found.flags))),
            per_unit=self._pooled(found.per_unit),
            values={name: self._value(value) for name, value in self._pooled(found.values).items()},
        )

    def _pooled(self, parts: Mapping[Any, Any]) -> dict[Any, Any]:
        kept = {name: value for name, value in parts.items() if not self.hides(str(name))}
        if len(kept) < len(parts):
            numbers = [v for name, v in parts.items() if name not in kept and isinstance(v, int | float)]
            kept[POOLED] = math.fsum(numbers) / len(numbers) if numbers else None
        return kept

    def _value(self, value: Any) -> Any:
        if isinstance(value, str):
            return POOLED if value in self.names else self.text(value)
        if isinstance(value, Mapping):
            return {key: self._value(inner) for key, inner in self._pooled(value).items()}
        if isinstance(value, list | tuple):
            return [self._value(item) for item in value]
        if isinstance(value, np.ndarray) and value.dtype.kind in "OUT":
            return self._value(value.tolist())
        return value

    def labels(self, column: Labels) -> Labels:
        """A label column whose hidden classes are one class, behind the others."""
        hidden = [str(c) in self.names for c in column.classes]
        if not any(hidden):
            return column
        kept = [c for c, h in zip(column.classes, hidden, strict=True) if not h]
        place = np.cumsum(~np.array(hidden)) - 1
        place[np.array(hidden)] = len(kept)
        return Labels(place[column.codes], (*kept, POOLED))

    def error(self, error: PrimaBenchError) -> PrimaBenchError:
        """An error of a metric's own, in words that give nothing away."""
        if isinstance(error, ContractError):
            return _same_kind(error, violations=tuple(self.violations(error.violations)), text=self.text)
        return _same_kind(error, text=self.text)

    def violations(self, found: Iterable[Violation]) -> list[Violation]:
        """Violations that a metric's own code found."""
        return [
            evolve(
                v,
                expected=self.text(v.expected),
                found=self.text(v.found),
                remedy=self.text(v.remedy),
                ids=tuple(map(self.text, v.ids)),
            )
            for v in found
        ]


def _is_apart(text: str, start: int, stop: int) -> bool:
    """Whether no letter goes on before or behind."""
    return not _WORD.match(text[start - 1 : start]) and not _WORD.match(text[stop : stop + 1])


def predicted_names(column: Labels) -> Collection[str]:
    """Names of the classes that occur in a column."""
    return {str(column.classes[code]) for code in np.unique(column.codes).tolist() if code >= 0}


def _same_kind(error: PrimaBenchError, *, text: Any, **changes: Any) -> PrimaBenchError:
    made = type(error).__new__(type(error))
    state = {name: text(value) if isinstance(value, str) else value for name, value in error.__dict__.items()}
    made.__dict__.update({**state, **changes})
    made.args = (made.message, made.remedy)
    return made
