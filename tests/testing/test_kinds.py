"""The checks on contracts of every kind of field: core refuses each corruption by name, and the kit makes it."""

from __future__ import annotations

import pytest

from primabench_core.testing import CHECKS, NotApplicable
from primabench_core.testing.catalogue import name_of

FIELDS = {
    "probability": 'Field("probability", "probability", coord="classes")',
    "embedding": 'Field("embedding", "embedding")',
    "value": 'Field("value", "value")',
    "matrix": 'Field("counts", "matrix", state="counts")',
    "points": 'Field("spots", "points")',
    "pairs": 'Field("contacts", "pairs")',
    "text": 'Field("sequence", "text")',
}
LABEL = 'prediction=(Field("label", "label", vocabulary="truth", doc="predicted class"),),'


@pytest.mark.parametrize("kind", FIELDS)
def test_every_kind_of_field(wrong_task, subject, kind):
    wrong_task(specs={LABEL: LABEL.replace("),),", f"), {FIELDS[kind]}),")})
    task = subject("task", "wrong")
    skipped = set()
    for check in CHECKS["task"]:
        try:
            check(task)
        except NotApplicable:
            skipped.add(name_of(check))
    assert skipped <= {"refuses_infinity", "refuses_out_of_range"}
