"""A dataset whose card pins another content hash than the store holds is neither fetched nor scored."""

from __future__ import annotations

import pytest

from primabench_core.errors import CorruptDataError
from primabench_core.store.access import dataset_content_hash, fetch_data


def test_a_store_that_another_state_of_the_plugin_built_is_refused(built):
    held = dataset_content_hash(built.key)
    fetch_data(task="toy", dataset=built.key)
    built.change("DATASET", content_hash="ab" * 32)
    for use in (lambda: dataset_content_hash(built.key), lambda: fetch_data(task="toy", dataset=built.key)):
        with pytest.raises(CorruptDataError) as error:
            use()
        assert held in str(error.value)
        assert "ab" * 32 in str(error.value)
        assert "toy-plugin" in error.value.remedy
        assert "build it again" in error.value.remedy
