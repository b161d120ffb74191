"""Which copy at hand is meant for which source."""

from __future__ import annotations

import pytest

from primabench_core.cli.build_command import sources_given
from primabench_core.errors import UnknownNameError, UsageError
from primabench_core.spec import RecipeSpec, Source

KEY = "doe_2020_journal/x@1.0.0"
ONE = RecipeSpec(dataset=KEY, build="m:f", sources=[Source(name="table", url="https://x.invalid")])
TWO = RecipeSpec(dataset=KEY, build="m:f", sources=[*ONE.sources, Source(name="raw", files=("*.csv",))])


def test_a_single_source_needs_no_name():
    assert sources_given(ONE, ["here.csv"], None) == {"table": "here.csv"}
    assert sources_given(ONE, ["table=here.csv"], None) == {"table": "here.csv"}
    assert sources_given(ONE, ["a=b.csv"], None) == {"table": "a=b.csv"}
    assert sources_given(ONE, [], None) == {}


def test_several_sources_are_named():
    assert sources_given(TWO, ["table=a=b.csv"], "folder") == {"table": "a=b.csv", "raw": "folder"}
    with pytest.raises(UsageError, match="say which one"):
        sources_given(TWO, ["here.csv"], None)
    with pytest.raises(UnknownNameError, match="tabel"):
        sources_given(TWO, ["tabel=here.csv"], None)


def test_what_contradicts_itself_is_refused():
    with pytest.raises(UsageError, match="twice"):
        sources_given(ONE, ["a.csv", "table=b.csv"], None)
    with pytest.raises(UsageError, match="raw-root does not apply"):
        sources_given(ONE, [], "folder")


def test_the_command_refuses_copies_for_all(primabench):
    ran = primabench("build", "--all-bundled", "--source", "x.csv")
    assert ran.code == 2
    assert "one dataset" in ran.err
