"""Drawing with matplotlib, in the colours of the report."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ._estimate import Estimate
from ._optional import optional
from .errors import ArgumentError, ScenarioError, instance, known, refused

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ._native import Table
    from .result import Result

__all__ = ["COLOURS", "STYLE", "draw", "plot"]

#: The colours of the report's series. They can be told apart without colour vision.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#b8568f", "#222222", "#e69f00", "#56b4e9")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
DASHES = ("-", "--", ":", "-.")
#: Times are drawn in seconds.
_SCALES = {"ns": 1e-9, "ms": 1e-3}
#: The key's mark of points whose half-width is not known.
_UNKNOWN = "#46566a"
HATCHES = ("", "///", "...", "xxx")

#: The report's style, for ``matplotlib.rc_context``.
STYLE = {
    "axes.edgecolor": "#8798a8",
    "axes.labelcolor": "#46566a",
    "axes.titlecolor": "#1b2733",
    "axes.titlelocation": "left",
    "axes.titleweight": "bold",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e3e8ed",
    "xtick.color": "#46566a",
    "ytick.color": "#46566a",
    "legend.frameon": False,
    "figure.figsize": (8.0, 4.5),
    "figure.constrained_layout.use": True,
}


def draw(chart: dict[str, Any], *, view: int | None = None, ax: Any = None) -> Figure:
    """Draws a chart of the report; its half-widths are bars, or a band along a curve."""
    matplotlib = optional("matplotlib", "plot")
    shown = chart["views"][_first(chart) if view is None else view]
    with matplotlib.rc_context(STYLE):
        axes = ax if ax is not None else _axes()
        visible = [series for series in shown["series"] if not series["hidden"]]
        for place, series in enumerate(visible):
            _series(axes, chart, series, place, len(visible))
        unknown = any(_is_unknown(point["y"]) for series in visible for point in series["points"])
        if unknown:
            axes.plot([], [], "o", color=_UNKNOWN, markerfacecolor="white", label="half-width unknown")
        for region in shown["regions"]:
            axes.axvspan(region["from"], region["to"], color="#f1f4f8", zorder=0)
        for mark in shown["marks"]:
            line = axes.axvline if mark["axis"] == "x" else axes.axhline
            line(mark["at"], color="#a33c00", linestyle=":", linewidth=1)
        _axis(axes, "x", chart["x"])
        _axis(axes, "y", chart["y"])
        axes.set_title(chart["title"])
        if len(visible) > 1 or unknown:
            axes.legend()
    figure: Figure = axes.figure
    return figure


def plot(results: Iterable[Result], *, y: str = "delay", x: str = "rate_per_s", by: str | None = None, ax: Any = None) -> Figure:
    """Draws a figure of several results against a field of their scenarios, half-widths as bars. Needs ``warmcore[plot]``.

    A mark is hollow where the half-width is not known.

    Args:
        results: What :func:`warmcore.simulate` returned.
        y: The name of a figure; results without it, such as the delay of a saturated host, are left out.
        x: The dotted path of a number in the scenario.
        by: The dotted path of a field: a line for each of its values.
        ax: Axes to draw into; a figure of its own otherwise.

    Raises:
        Error: ``results`` are no results; or there is no such figure or field: the message names the nearest.
    """
    from .result import Result as Drawn

    if isinstance(results, (Drawn, str)) or not isinstance(results, Iterable):
        raise refused(ArgumentError, "results", f"of type {type(results).__name__}", "a list of results, such as [result]")
    results = list(results)
    for one in results:
        instance(one, Drawn, "results", "what wc.simulate returned")
    lines: dict[str, list[dict[str, Any]]] = {}
    unit = ""
    for result in results:
        known(y, result.figures, "y", "the name of a figure")
        figure = result[y]
        if figure is None:
            continue
        if not isinstance(figure, Estimate):
            found = f"{y!r}, of type {type(figure).__name__}"
            raise refused(ScenarioError, "y", found, "a figure with an interval, such as 'delay'")
        unit = figure.unit
        name = y if by is None else str(_field(result, by, "by"))
        lines.setdefault(name, []).append(_point(_number(result, x), figure))
    ordered = {name: sorted(points, key=lambda point: float(point["x"])) for name, points in lines.items()}
    return draw(_chart(f"{y} by {x}", x, "", y, unit, [_named(name, points, "line") for name, points in ordered.items()]), ax=ax)


def bars(title: str, label: str, unit: str, names: list[str], series: dict[str, list[Any]], ax: Any = None) -> Figure:
    """Draws bars: for each of ``names`` an estimate, or nothing, of each series."""
    drawn = [
        _named(name, [_point(place, one) for place, one in enumerate(values) if one is not None], "bars")
        for name, values in series.items()
    ]
    chart = _chart(title, "", "", label, unit, drawn)
    chart["x"]["scale"] = {"categories": names}
    return draw(chart, ax=ax)


def histogram(table: Table, title: str, label: str, *, scale: str = "log", ax: Any = None) -> Figure:
    """Draws a histogram of times as a density, since its buckets are of unequal width: areas are shares of the packets.

    Args:
        table: The columns ``from`` and ``to`` in ns, and ``packets``.
        title: The chart's title.
        label: What the times are.
        scale: ``"log"``: the share of packets per e-fold, over a logarithmic axis; ``"linear"``: the share per second.
        ax: Axes to draw into; a figure of its own otherwise.

    Raises:
        ScenarioError: Another scale.
    """
    if scale not in ("log", "linear"):
        raise refused(ScenarioError, "scale", repr(scale), '"log" or "linear"')
    matplotlib = optional("matplotlib", "plot")
    rows = [table.row(place) for place in range(len(table))]
    # Empty buckets at the ends tell nothing; one from zero has no width in e-folds.
    buckets = [
        (row["from"] * 1e-9, row["to"] * 1e-9, row["packets"])
        for row in rows
        if scale == "linear" or row["from"] > 0.0
    ]
    total = sum(row["packets"] for row in rows)
    widths = [math.log(end / begin) if scale == "log" else end - begin for begin, end, _ in buckets]
    heights = [packets / total / width for (_, _, packets), width in zip(buckets, widths, strict=True)]
    with matplotlib.rc_context(STYLE):
        axes = ax if ax is not None else _axes()
        lefts = [begin for begin, _, _ in buckets]
        axes.bar(lefts, heights, [end - begin for begin, end, _ in buckets], align="edge", color=COLOURS[0], linewidth=0)
        unit = {"symbol": "s", "prefixed": True}
        _axis(axes, "x", {"label": label, "unit": unit, "scale": scale})
        axes.set_ylabel("share of packets per e-fold of time" if scale == "log" else "share of packets per second (1/s)")
        axes.set_title(title)
    figure: Figure = axes.figure
    return figure


def lines(
    title: str,
    x: tuple[str, str],
    y: tuple[str, str],
    series: dict[str, list[tuple[Any, Any]]],
    *,
    names: list[str] | None = None,
    ax: Any = None,
) -> Figure:
    """Draws series of places and estimates, or bars where places are those in the list of ``names``.

    Each of ``x`` and ``y`` is a label and a unit. Estimates that share a place in a series are marks without a line.
    """
    scale = _SCALES.get(x[1], 1.0)
    drawn = []
    for name, points in series.items():
        places = [place for place, _ in points]
        style = "points" if len(set(places)) < len(places) else "line" if names is None else "bars"
        placed = [_point(place if names is not None else place * scale, estimate) for place, estimate in points]
        drawn.append(_named(name, placed, style))
    chart = _chart(title, *x, *y, drawn)
    if names is not None:
        chart["x"]["scale"] = {"categories": names}
    return draw(chart, ax=ax)


def _field(result: Result, path: str, argument: str) -> Any:
    """What the scenario of ``result`` has at a dotted path that was given as ``argument``."""
    instance(path, str, argument, "the dotted path of a field")
    if path in result.replaced:
        return result.replaced[path]
    value: Any = result.scenario.to_dict()
    known(path, _paths(value, ""), argument, "the dotted path of a field of the scenario")
    for name in path.split("."):
        value = value[int(name)] if isinstance(value, list) else value[name]
    return value


def _number(result: Result, path: str) -> float:
    value = _field(result, path, "x")
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise refused(ScenarioError, "x", f"{path!r}, which is {value!r} in a scenario", "the dotted path of a number")
    return value


def _paths(value: Any, prefix: str) -> list[str]:
    """The dotted paths of all fields within ``value``."""
    places = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    paths = []
    for name, one in places:
        paths += [f"{prefix}{name}", *_paths(one, f"{prefix}{name}.")]
    return paths


def _point(x: Any, figure: Any) -> dict[str, Any]:
    scale = _SCALES.get(figure.unit, 1.0)
    half = None if figure.half_width is None else figure.half_width * scale
    return {"x": x, "y": {"mean": figure.mean * scale, "half_width": half}}


def _named(name: str, points: list[dict[str, Any]], style: str) -> dict[str, Any]:
    return {"name": name, "group": None, "style": style, "look": None, "hidden": False, "emphasised": False, "points": points}


def _chart(title: str, x: str, x_unit: str, y: str, y_unit: str, series: list[dict[str, Any]]) -> dict[str, Any]:
    def axis(label: str, unit: str) -> dict[str, Any]:
        # Times are in seconds here, with a metric prefix.
        shown = "s" if unit in ("ns", "ms", "s") else unit
        return {"label": label, "unit": {"symbol": shown, "prefixed": shown == "s"}, "scale": "linear"}

    view = {"picks": [], "series": series, "regions": [], "marks": []}
    return {"title": title, "x": axis(x, x_unit), "y": axis(y, y_unit), "choices": [], "views": [view]}


def _axes() -> Any:
    # A figure without pyplot's state: nothing to close, and notebooks show what a cell returns.
    figure = optional("matplotlib.figure", "plot").Figure()
    optional("matplotlib.backends.backend_agg", "plot").FigureCanvasAgg(figure)
    return figure.add_subplot()


def _first(chart: dict[str, Any]) -> int:
    initial = [choice["initial"] for choice in chart["choices"]]
    picks = [view["picks"] for view in chart["views"]]
    return picks.index(initial) if initial in picks else 0


def _series(axes: Any, chart: dict[str, Any], series: dict[str, Any], place: int, among: int) -> None:
    look = series["look"] or {"colour": place, "pattern": place // len(COLOURS)}
    colour = COLOURS[look["colour"] % len(COLOURS)]
    name = f"{series['group']}: {series['name']}" if series["group"] else series["name"]
    x = [point["x"] for point in series["points"]]
    y = [point["y"]["mean"] for point in series["points"]]
    half = [_half(point["y"]) for point in series["points"]]
    width = 2.5 if series["emphasised"] else 1.5
    dash = DASHES[look["pattern"] % len(DASHES)]
    if series["style"] == "bars":
        each = 0.8 / among
        x = [one + (place - (among - 1) / 2) * each for one in x]
        hatch = HATCHES[look["pattern"] % len(HATCHES)]
        axes.bar(x, y, each, yerr=half, color=colour, hatch=hatch, edgecolor="white", label=name, capsize=2)
    elif series["style"] == "curve":
        axes.plot(x, y, dash, color=colour, linewidth=width, label=name)
        band = [[value + sign * one for value, one in zip(y, half, strict=True)] for sign in (-1, 1)]
        axes.fill_between(x, *band, color=colour, alpha=0.15, linewidth=0)
    else:
        marker = MARKERS[look["colour"] % len(MARKERS)]
        line = dash if series["style"] == "line" else "none"
        axes.errorbar(
            x, y, yerr=half, marker=marker, linestyle=line, color=colour, linewidth=width, markersize=5, capsize=2, label=name
        )
    # A mark without a bar would look as if it were certain.
    hollow = [(at, point["y"]["mean"]) for at, point in zip(x, series["points"], strict=True) if _is_unknown(point["y"])]
    if hollow:
        marker = "o" if series["style"] == "bars" else MARKERS[look["colour"] % len(MARKERS)]
        axes.plot(*zip(*hollow, strict=True), marker, color=colour, markerfacecolor="white", markersize=5, zorder=4)


def _is_unknown(estimate: dict[str, Any]) -> bool:
    """Whether nothing is known about the error."""
    return bool(estimate.get("half_width") == math.inf)


def _half(estimate: dict[str, Any]) -> float:
    half = estimate.get("half_width")
    # What is not known has no bar, not even one of no length.
    return half if half is not None and math.isfinite(half) else math.nan


def _axis(axes: Any, which: str, axis: dict[str, Any]) -> None:
    unit = axis["unit"]["symbol"]
    getattr(axes, f"set_{which}label")(f"{axis['label']} ({unit})" if unit else axis["label"])
    scale = axis["scale"]
    if scale == "log":
        getattr(axes, f"set_{which}scale")("log")
    elif isinstance(scale, dict):
        names = scale["categories"]
        getattr(axes, f"set_{which}ticks")(range(len(names)), names)
    if axis["unit"]["prefixed"] and not isinstance(scale, dict):
        ticker = optional("matplotlib.ticker", "plot")
        drawn = getattr(axes, f"{which}axis")
        drawn.set_major_formatter(ticker.EngFormatter(unit=unit))
        if scale == "log":
            # Within a decade or two, powers of ten alone would hardly say anything.
            first, last = getattr(axes, f"get_{which}lim")()
            drawn.set_minor_formatter(ticker.NullFormatter())
            if first > 0.0 and last / first < 100.0:
                drawn.set_major_locator(ticker.LogLocator(subs=(1.0, 1.5, 2.0, 3.0, 5.0, 7.0)))
        getattr(axes, f"set_{which}label")(axis["label"])
