"""The charts of a report, as Vega-Lite documents. Each function takes plain rows and returns SVG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from primabench_core.result.curves import Confusion, Curve
from primabench_core.result.numeral import numeral
from primabench_core.result.report.svg import ACCENT, INK, MUTED, PAPER, SECOND, WIDTH, render

MOST_PARTS = 24
"""Bars of a chart of parts; of more parts the worst are shown."""
_NUMBERED = 12
"""Classes up to which a confusion table has numbers in its cells."""

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
    more.setdefault("axis", {"minExtent": min(160, 4 + 7 * max(map(len, order), default=0))})
    return {"field": name, "type": "nominal", "title": None, "sort": list(order), "scale": scale, **more}


def dots(rows: Sequence[Row], *, name: str, metric: str, arrow: str) -> str:
    """A dot and its interval for each model; baselines are hollow.

    Args:
        rows: ``model``, ``value`` (or None), ``low``, ``high``, ``baseline`` (bool), ``why`` (text where no value).
        name: Unique in the page.
        metric: Name of the metric.
        arrow: Which way is better, in words.
    """
    y = _names("model", [row["model"] for row in rows])
    loose = {"scale": {"zero": False, "nice": True}}
    seen = [row for row in rows if row["value"] is not None]
    layers = []
    for baseline, fill, stroke in ((False, ACCENT, ACCENT), (True, PAPER, MUTED)):
        part = [row for row in seen if row["baseline"] is baseline]
        held = [row for row in part if row["low"] is not None]
        if held:
            rule = {"type": "rule", "strokeWidth": 2, "color": stroke}
            layers.append(_layer(held, rule, y=y, x=_number("low", **loose), x2={"field": "high"}))
        if part:
            point = {"type": "point", "fill": fill, "stroke": stroke, "size": 70, "strokeWidth": 2, "opacity": 1}
            layers.append(_layer(part, point, y=y, x=_number("value", **loose)))
    absent = [row for row in rows if row["value"] is None]
    if absent:
        text = {"type": "text", "align": "left", "fontSize": 12, "fontStyle": "italic", "color": MUTED}
        layers.append(_layer(absent, text, y=y, x={"value": 4}, text={"field": "why", "type": "nominal"}))
    told = "; ".join(f"{row['model']} {_told(row)}" for row in rows)
    chart = _chart(layers, 34 + 26 * len(rows))
    return render(chart, name=name, title=f"{metric} of each model, {arrow}", description=told)


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
    layers = [_layer(rows, {"type": "bar", "color": ACCENT, "opacity": 0.7}, x=_number("value"), y=y)]
    held = [row for row in rows if row["reference"] is not None]
    if held:
        tick = {"type": "tick", "color": INK, "thickness": 2, "height": 15}
        layers.append(_layer(held, tick, x=_number("reference"), y=y))
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
    at = {
        "x": _names("p", classes, axis={"labelAngle": -50, "grid": False, "labelLimit": 110}),
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
    width = min(680, max(WIDTH, 150 + 36 * len(classes)))
    chart = _chart(layers, 100 + (28 if small else 16) * len(table.truth_classes), width)
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
