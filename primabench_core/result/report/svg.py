"""Charts as SVG that stands inside a page: its colours follow the page, its ids do not clash."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape
from typing import Any

WIDTH = 340
"""Pixels; a phone shows a chart at its own size."""
LONGEST = 210
"""Pixels of a name beside a chart; what is longer is cut."""

INK, MUTED, LINE, PAPER, ACCENT, SECOND = "#101010", "#707070", "#d9d9d9", "#fdfdfd", "#0b6b5b", "#b5541c"
_VARIABLES = {
    INK: "--ink", MUTED: "--muted", LINE: "--line", PAPER: "--paper", ACCENT: "--accent", SECOND: "--second",
}  # fmt: skip
"""Colours that charts are drawn in, and the variables of the page that take their place."""

_SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"  # the name of the language; nothing is fetched
_FONT = "ui-sans-serif, system-ui, -apple-system, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif"


def configuration() -> dict[str, Any]:
    """The look that all charts share."""
    axis = {
        "labelColor": MUTED, "titleColor": MUTED, "domain": False, "tickColor": LINE, "gridColor": LINE,
        "labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": "normal", "labelLimit": LONGEST, "ticks": False,
        "labelPadding": 6, "titlePadding": 8,
    }  # fmt: skip
    return {
        "font": _FONT,
        "background": None,
        "view": {"stroke": None},
        "axis": axis,
        "axisY": {"labelColor": INK, "grid": False, "labelPadding": 10},
        "axisX": {"tickCount": 4, "labelFlush": False},
        "padding": {"left": 6, "right": 8, "top": 4, "bottom": 2},
    }


def render(chart: Mapping[str, Any], *, name: str, title: str, description: str) -> str:
    """The SVG of a chart, without any reference to the outside.

    Args:
        chart: A Vega-Lite document.
        name: Unique in the page.
        title: What it shows, for a reader who cannot see it.
        description: What can be read from it.
    """
    import vl_convert

    document = {"$schema": _SCHEMA, **chart, "config": configuration()}
    svg: str = vl_convert.vegalite_to_svg(document)
    for colour, variable in _VARIABLES.items():
        svg = re.sub(f'(fill|stroke)="{colour}"', rf'\1="var({variable})"', svg, flags=re.IGNORECASE)
    svg = re.sub(r'\bid="([^"]+)"', rf'id="{name}-\1"', svg)
    svg = re.sub(r"url\(#([^)]+)\)", rf"url(#{name}-\1)", svg)
    svg = re.sub(r'\s(?:role|aria-[a-z]+)="[^"]*"', "", svg)  # the picture is one image with one description
    opening = re.match(r"<svg[^>]*>", svg)
    if opening is None:
        raise ValueError("the converter gave no SVG")
    box = re.search(r'viewBox="([^"]+)"', opening.group())
    width = re.search(r'\bwidth="([^"]+)"', opening.group())
    size = f'viewBox="{box.group(1)}" width="{width.group(1)}"' if box and width else ""
    head = (
        f'<svg {size} role="img" aria-labelledby="{name}-t {name}-d" focusable="false">'
        f'<title id="{name}-t">{escape(title)}</title><desc id="{name}-d">{escape(description)}</desc>'
    )
    return head + svg[opening.end() :]
