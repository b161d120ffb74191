"""What is suggested for a name that nobody has."""

from __future__ import annotations

import pytest

from primabench_core.errors import UnknownNameError, close_names

METRICS = ["accuracy", "adjusted_x", "macro_f1", "micro_f1", "silhouette_cell_type", "weighted_f1"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("f1", ["macro_f1", "micro_f1", "weighted_f1"]),
        ("F1", ["macro_f1", "micro_f1", "weighted_f1"]),
        ("acuracy", ["accuracy"]),
        ("my_accuracy_score", ["accuracy"]),
        ("f", []),
        ("", []),
        ("nothing like it", []),
    ],
)
def test_names_alike_and_names_that_contain_the_text(name, expected):
    assert close_names(name, METRICS) == expected


def test_a_name_inside_a_long_list_is_suggested_before_the_list_is_cut():
    known = [f"a_{i:03}" for i in range(50)] + ["macro_f1"]
    assert "Did you mean 'macro_f1'?" in str(UnknownNameError("metric", "f1", known))
    assert "Known: a_000" in str(UnknownNameError("metric", "zz", known))
