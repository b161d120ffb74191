"""The charts of a report, as Vega-Lite documents. Each function takes plain rows and returns SVG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, floor, log10, radians, sin
from typing import Any

from primabench_core.result.curves import Confusion, Curve
from primabench_core.result.numeral import numeral
from primabench_core.result.report.svg import ACCENT, INK, LONGEST, MUTED, PAPER, SECOND, WIDTH, render

MOST_PARTS = 24
"""Bars of a chart of parts; of more parts the worst are shown."""
_NUMBERED = 12
"""Classes up to which a confusion table has numbers in its cells."""
_SLANT = 50
"""Degrees that names under the columns of a confusion table are turned by."""
_WIDER = 1.1
"""Share by which a reader's font may be wider than the letters that room is kept for."""

Row = Mapping[str, Any]


def _layer(rows: Sequence[Row], mark: Mapping[str, Any], **encoding: Any) -> dict[str, Any]:
    return {"data": {"values": list(rows)}, "mark": mark, "encoding": encoding}


def _chart(layers: Sequence[Mapping[str, Any]], height: int, width: int = WIDTH) -> dict[str, Any]:
    fit = {"type": "fit", "contains": "padding"}
    return {"layer": list(layers), "width": width, "height": height, "autosize": fit}


def _number(name: str, **more: Any) -> dict[str, Any]:
    return {"field": name, "type": "quantitative", "title": None, **more}


def _names(name: str, order: Sequence[str], **more: Any) -> dict[str, Any]:
    scale = {"domain": list(order), **more.pop("scale", {})}
    # the reader's font may be wider than the one that the converter measures with
    more.setdefault("axis", {"minExtent": _extent(order)})
    return {"field": name, "type": "nominal", "title": None, "sort": list(order), "scale": scale, **more}


def _extent(names: Sequence[str]) -> int:
    """Pixels that the longest name takes, up to where it is cut."""
    return min(LONGEST, 4 + 7 * max(map(len, names), default=0))


_MARKS: Mapping[str, tuple[str, str, str]] = {
    "model": ("circle", ACCENT, ACCENT), "baseline": ("circle", PAPER, MUTED), "oracle": ("diamond", PAPER, MUTED),
}  # fmt: skip
"""Shape, fill and line of each role; the legend of the page says the same."""


def dots(rows: Sequence[Row], *, name: str, metric: str, arrow: str) -> str:
    """A dot and its interval for each model; baselines are hollow, oracles hollow diamonds.

    Args:
        rows: ``model``, ``value`` (or None), ``low``, ``high``, ``role``, ``why`` (text where no value).
        name: Unique in the page.
        metric: Name of the metric.
        arrow: Which way is better, in words.
    """
    y = _names("model", [row["model"] for row in rows])
    seen = [row for row in rows if row["value"] is not None]
    ticks = nice_ticks([float(row[end]) for row in seen for end in ("value", "low", "high") if row[end] is not None])
    axis = {"scale": {"domain": [ticks[0], ticks[-1]], "nice": False, "zero": False}}
    axis["axis"] = {"values": ticks, "tickCount": len(ticks)}
    layers = []
    for role, (shape, fill, stroke) in _MARKS.items():
        part = [row for row in seen if row["role"] == role]
        held = [row for row in part if row["low"] is not None]
        if held:
            rule = {"type": "rule", "strokeWidth": 2, "color": stroke}
            layers.append(_layer(held, rule, y=y, x=_number("low", **axis), x2={"field": "high"}))
        if part:
            point = {
                "type": "point", "shape": shape, "fill": fill, "stroke": stroke, "size": 70, "strokeWidth": 2,
                "opacity": 1,
            }  # fmt: skip
            layers.append(_layer(part, point, y=y, x=_number("value", **axis)))
    absent = [row for row in rows if row["value"] is None]
    if absent:
        text = {"type": "text", "align": "left", "fontSize": 12, "fontStyle": "italic", "color": MUTED}
        layers.append(_layer(absent, text, y=y, x={"value": 4}, text={"field": "why", "type": "nominal"}))
    told = "; ".join(f"{row['model']} {_told(row)}" for row in rows)
    chart = _chart(layers, 34 + 26 * len(rows))
    return render(chart, name=name, title=f"{metric} of each model, {arrow}", description=told)


def nice_ticks(values: Sequence[float]) -> list[float]:
    """Three to eight round numbers around all values; from 0 where the smallest value is near it.

    Example:
        >>> nice_ticks([0.18, 1.0]), nice_ticks([0.91, 0.94]), nice_ticks([3.0])
        ([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], [0.91, 0.915, 0.92, 0.925, 0.93, 0.935, 0.94], [2.0, 2.5, 3.0, 3.5, 4.0])
    """
    low, high = min(values), max(values)
    if 0 <= low < 0.5 * high:
        low = 0.0
    elif 0.5 * low < high <= 0:
        high = 0.0
    size = max(abs(low), abs(high))
    if high - low <= size * 1e-6:
        pad = size / 10 if size > 1e-300 else 1.0
        low, high = low - pad, high + pad
    raw = (high - low) / 6
    unit = 10.0 ** floor(log10(raw))
    step = next((m * unit for m in (1, 2, 5) if raw <= m * unit * (1 + 1e-9)), 10 * unit)
    first, last = floor(low / step + 1e-9), ceil(high / step - 1e-9)
    digits = max(0, -floor(log10(step)))
    return [round(i * step, digits) + 0.0 for i in range(first, last + 1)]


def _told(row: Row) -> str:
    if row["value"] is None:
        return str(row["why"])
    between = f" from {numeral(row['low'])} to {numeral(row['high'])}" if row["low"] is not None else ""
    return numeral(row["value"]) + between


def bars(rows: Sequence[Row], *, name: str, metric: str, model: str) -> str:
    """A bar for each part of an aggregate, with a tick where the reference model stands.

    Args:
        rows: ``part``, ``value``, ``reference`` (or None).
        name: Unique in the page.
        metric: Name of the metric.
        model: Whose parts they are.
    """
    y = _names("part", [row["part"] for row in rows], scale={"paddingInner": 0.35})
    room = {"axis": {"tickCount": 3}} if _extent([row["part"] for row in rows]) > WIDTH // 3 else {}
    layers = [_layer(rows, {"type": "bar", "color": ACCENT, "opacity": 0.7}, x=_number("value", **room), y=y)]
    held = [row for row in rows if row["reference"] is not None]
    if held:
        tick = {"type": "tick", "color": INK, "thickness": 2, "height": 15}
        layers.append(_layer(held, tick, x=_number("reference", **room), y=y))
    told = "; ".join(f"{row['part']} {numeral(row['value'])}" for row in rows)
    chart = _chart(layers, 34 + 20 * len(rows))
    return render(chart, name=name, title=f"{metric} of each part, {model}", description=told)


def confusion(table: Confusion, *, name: str, model: str) -> str:
    """Shares of each true class, cell by cell: true classes down, predicted classes across."""
    rows = []
    for truth, line in zip(table.truth_classes, table.table, strict=True):
        total = sum(line)
        for predicted, count in zip(table.predicted_classes, line, strict=True):
            rows.append({"t": truth, "p": predicted, "count": count, "share": count / total if total else 0.0})
    classes = table.predicted_classes
    small = len(classes) <= _NUMBERED
    # as far down as slanted names reach, in a font wider than the one that the converter measures with
    below = ceil(_WIDER * sin(radians(_SLANT)) * _extent(classes)) + 18
    at = {
        "x": _names("p", classes, axis={"labelAngle": -_SLANT, "grid": False, "minExtent": below}),
        "y": _names("t", table.truth_classes),
    }
    shade = _number("share", scale={"domain": [0, 1], "range": [0.04, 1]}, legend=None)
    layers = [_layer(rows, {"type": "rect", "color": ACCENT, "stroke": PAPER, "strokeWidth": 1}, opacity=shade, **at)]
    if small:
        counted = [row for row in rows if row["count"]]
        colour = {"condition": {"test": "datum.share > 0.55", "value": PAPER}, "value": INK}
        text = {"field": "count", "type": "quantitative"}
        layers.append(_layer(counted, {"type": "text", "fontSize": 11}, text=text, color=colour, **at))
    told = "; ".join(
        f"{truth}: {line[classes.index(truth)] if truth in classes else 0} of {sum(line)} right"
        for truth, line in zip(table.truth_classes, table.table, strict=True)
    )
    width = min(760, max(WIDTH, _extent(table.truth_classes) + 20 + 36 * len(classes)))
    chart = _chart(layers, below + (28 if small else 16) * len(table.truth_classes), width)
    return render(chart, name=name, title=f"True against predicted class, {model}", description=told)


_AXES = {
    "roc": ("false positive rate", "true positive rate", "ROC curve"),
    "pr": ("recall", "precision", "Precision and recall"),
    "reliability": ("predicted probability", "observed share", "Reliability"),
}


def curve(found: Curve, *, name: str, model: str) -> str:
    """A curve with its band and the line of chance."""
    across, up, title = _AXES[found.kind]
    unit = {"domain": [0, 1], "nice": False}
    at = {
        "x": _number("x", title=across, scale=unit),
        "y": _number("y", title=up, scale=unit, axis={"labelColor": MUTED, "grid": True, "tickCount": 5}),
    }
    level = found.chance
    ends = [{"x": 0, "y": 0}, {"x": 1, "y": 1}] if level is None else [{"x": 0, "y": level}, {"x": 1, "y": level}]
    layers = [_layer(ends, {"type": "line", "color": MUTED, "strokeDash": [3, 4], "strokeWidth": 1}, **at)]
    rows = [{"i": i, "x": a, "y": b} for i, (a, b) in enumerate(zip(found.x, found.y, strict=True))]
    if found.low:
        band = [{"x": a, "y": b, "high": c} for a, b, c in zip(found.x, found.low, found.high, strict=True)]
        layers.append(_layer(band, {"type": "area", "color": ACCENT, "opacity": 0.18}, y2={"field": "high"}, **at))
    line = {"type": "line", "color": ACCENT, "strokeWidth": 2}
    if found.kind == "pr":  # precision holds until the next distinct score
        line["interpolate"] = "step-before"
    layers.append(_layer(rows, line, order=_number("i"), **at))
    if found.kind == "reliability":
        weights = found.weight or (1.0,) * found.n
        most = max(weights, default=1.0)
        points = [{**row, "size": 30 + 170 * weight / most} for row, weight in zip(rows, weights, strict=True)]
        size = _number("size", scale=None, legend=None)
        layers.append(_layer(points, {"type": "circle", "color": SECOND, "opacity": 0.9}, size=size, **at))
    told = f"{found.n} points from ({found.x[0]:.2f}, {found.y[0]:.2f}) to ({found.x[-1]:.2f}, {found.y[-1]:.2f})"
    of = f" of {found.name}" if found.name else ""
    return render(_chart(layers, 300), name=name, title=f"{title}{of}, {model}", description=told)
