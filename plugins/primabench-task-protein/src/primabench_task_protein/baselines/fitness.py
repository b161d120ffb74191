"""Baselines of fitness prediction."""

from __future__ import annotations

import hashlib
import re
from difflib import SequenceMatcher

import numpy as np

from primabench_core import EvalData, UsageError
from primabench_task_protein.baselines.blosum import BLOSUM62

_MUTATION = re.compile(r"^([A-Z*])(\d+)([A-Z*])$")
WORST = -4
"""What an unknown residue or a residue more or less counts: the lowest number of the table."""


def perfect(solution: EvalData, *, seed: int = 0) -> EvalData:
    """The measured fitness; runs inside the runner."""
    return EvalData({"score": np.asarray(solution["value"], np.float64)}, ids=solution.ids)


def random(train: EvalData | None, test: EvalData, *, seed: int = 0) -> EvalData:
    """A uniform score for each variant, by a hash of seed and id."""
    digests = (hashlib.sha256(f"{seed}:{name}".encode()).digest() for name in test.ids or ())
    return EvalData(
        {"score": np.asarray([(int.from_bytes(d[:8], "big") >> 11) / (1 << 53) for d in digests])}, ids=test.ids
    )


def blosum62(train: EvalData | None, test: EvalData, *, seed: int = 0) -> EvalData:
    """Σ over substitutions of B(old, new) - B(old, old); each residue more or less counts -4.

    Substitutions come from ``mutant`` (``A24G:L30P``), or, where there is none, from comparing ``sequence`` with
    ``wild_type``.
    """
    if "mutant" in test and all(_is_named(m) for m in _texts(test, "mutant")):
        scores = [sum(map(_named, m.split(":"))) for m in _texts(test, "mutant")]
    elif "sequence" in test and "wild_type" in test:
        pairs = zip(_texts(test, "wild_type"), _texts(test, "sequence"), strict=True)
        scores = [_compared(old, new) for old, new in pairs]
    else:
        raise UsageError(
            f"This baseline needs 'mutant', or 'sequence' and 'wild_type'; the data hold {sorted(test.fields)}.",
            remedy="primabench list baselines",
        )
    return EvalData({"score": np.asarray(scores, np.float64)}, ids=test.ids)


def _is_named(mutant: str) -> bool:
    return all(_MUTATION.match(part) for part in mutant.split(":"))


def _named(mutation: str) -> int:
    found = _MUTATION.match(mutation)
    assert found is not None
    return _change(found[1], found[3])


def _change(old: str, new: str) -> int:
    return BLOSUM62.get((old, new), WORST) - BLOSUM62.get((old, old), 0)


def _compared(old: str, new: str) -> int:
    if len(old) == len(new):
        return sum(_change(a, b) for a, b in zip(old, new, strict=True) if a != b)
    total = 0
    for kind, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind != "equal":
            common = min(b - a, d - c)
            total += sum(_change(x, y) for x, y in zip(old[a : a + common], new[c : c + common], strict=True))
            total += WORST * (max(b - a, d - c) - common)
    return total


def _texts(data: EvalData, name: str) -> list[str]:
    return [str(v) for v in np.asarray(data[name], object).tolist()]
