"""A module whose library is not installed."""

from __future__ import annotations

import primabench_absent_library


def predict(train: object, test: object, seed: int = 0) -> object:
    return primabench_absent_library.dream()
