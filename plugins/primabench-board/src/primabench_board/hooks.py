"""The moments this plugin takes part in: it adds the command ``primabench board``."""

from __future__ import annotations

from primabench_core.discovery.hooks import hookimpl


@hookimpl
def cli_commands() -> dict[str, str]:
    """``primabench board add | show | export``."""
    return {"board": "primabench_board.cli:main"}
