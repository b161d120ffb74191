"""Moments at which this plugin takes part: it adds the command ``primabench patient``."""

from __future__ import annotations

from primabench_core.discovery.hooks import hookimpl


@hookimpl
def cli_commands() -> dict[str, str]:
    """``patient``: validate, score and compare submissions."""
    return {"patient": "primabench_task_patient.cli.main:main"}
