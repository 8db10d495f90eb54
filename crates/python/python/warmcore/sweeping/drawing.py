"""A figure of a sweep's rows."""

from __future__ import annotations

import difflib
import math
from typing import TYPE_CHECKING, Any

from ..errors import Error, instance, refused
from ..plotting import lines
from ..result import Estimate

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from .dataset import Sweep

#: The kinds of columns that have a scale.
_NUMBERS = ("float", "integer")


def plot(swept: Sweep, x: str, y: str, by: str | None, ax: Any) -> Figure:
    """Draws the column ``y`` of a sweep by its column ``x``; see :meth:`Sweep.plot`."""
    columns = {column["name"]: column for column in swept.manifest["columns"]}
    for argument, name in (("x", x), ("y", y), ("by", by)):
        if name is not None:
            _check(columns, argument, name)
    if columns[y]["kind"] not in _NUMBERS:
        raise refused(Error, "y", f"`{y}`, a column of names", "a column of numbers")
    data = swept.dataset
    half = (data.schema.field(y).metadata or {}).get(b"half_width", b"").decode()
    wanted = dict.fromkeys(name for name in (x, y, by, half) if name)
    rows = data.to_table(columns=list(wanted)).to_pylist()
    names = None
    if columns[x]["kind"] not in _NUMBERS:
        names = list(dict.fromkeys(str(row[x]) for row in rows))
    series: dict[str, list[tuple[Any, Estimate]]] = {}
    for row in rows:
        # What a saturated host has no figure for is left out.
        if row[y] is not None and row[x] is not None:
            place = row[x] if names is None else names.index(str(row[x]))
            name = y if by is None else str(row[by])
            # A half-width that is missing from its column is not known.
            half_width = None if not half else math.inf if row[half] is None else row[half]
            series.setdefault(name, []).append((place, Estimate(row[y], half_width, columns[y]["unit"])))
    ordered = {name: sorted(points, key=lambda point: float(point[0])) for name, points in series.items()}
    labels = ((x, columns[x]["unit"]), (y, columns[y]["unit"]))
    return lines(f"{y} by {x}", *labels, ordered, names=names, ax=ax)


def _check(columns: dict[str, Any], argument: str, name: str) -> None:
    instance(name, str, argument, "the name of a column")
    if name not in columns:
        near = difflib.get_close_matches(name, columns, 1)
        hint = f"; the nearest is `{near[0]}`" if near else f": {', '.join(columns)}"
        raise refused(Error, argument, repr(name), f"a column of the data set{hint}")
