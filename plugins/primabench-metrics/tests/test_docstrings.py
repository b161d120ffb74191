"""The docstring of every metric is its manual: what goes in, in which shape, what comes out, and where it is from."""

from __future__ import annotations

import importlib
import re

import pytest
from metric_views import DECLARED

SPECS = {spec.compute: spec for _, spec in DECLARED.values()}


@pytest.mark.parametrize("target", sorted(SPECS))
def test_a_metric_says_shapes_and_source(target):
    module, _, name = target.partition(":")
    text = getattr(importlib.import_module(module), name).__doc__
    assert "Args:" in text
    assert "Returns:" in text
    assert re.search(r"\((n,|true classes,)", text), "the shape of what goes in"
    if SPECS[target].references:
        assert re.search(r"\b(18|19|20)\d\d\b", text), "the year of its source"
