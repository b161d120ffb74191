"""What is said where a table of predictions is given for a result."""

from __future__ import annotations

import pytest
from primabench_board.result_file import parse_result

import primabench_core as pb


@pytest.mark.parametrize(("text", "advised"), [("ids,score\na,1\n", True), ('{"format": ', False)])
def test_a_table_names_the_command_that_makes_results(text: str, advised: bool) -> None:
    with pytest.raises(pb.ResultError, match="not JSON") as caught:
        parse_result(text, source="rp.csv")
    assert ("primabench patient score" in caught.value.remedy) == advised
