"""Imported by a Dask worker before its first task: ``dask worker … --preload primabench_core.evaluation.preload``.

The array engine takes seconds to import; a worker does it once, when it starts, and not inside the first evaluation.
"""

from __future__ import annotations

from typing import Any


def dask_setup(worker: Any) -> None:
    """Import torch and what every evaluation needs.

    Args:
        worker: The worker that starts.
    """
    import torch  # noqa: F401

    import primabench_core.evaluation.compute
    import primabench_core.evaluation.folding  # noqa: F401
