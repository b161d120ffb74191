"""Moments that the sample takes part in."""

from __future__ import annotations

from primabench_core.discovery.hooks import hookimpl

seen: list[object] = []


@hookimpl
def evaluation_started(task: str, metrics: tuple[str, ...]) -> None:
    seen.append((task, metrics))


@hookimpl
def cli_commands() -> dict[str, str]:
    return {"sample": "primabench_sample.runtime:command"}


@hookimpl
def exporters() -> dict[str, str]:
    return {"sample": "primabench_sample.runtime:export"}
