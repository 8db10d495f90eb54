"""A figure and how far it is known."""

from __future__ import annotations

import html
import math
from dataclasses import dataclass
from typing import Any

__all__ = ["Estimate"]


@dataclass(frozen=True)
class Estimate:
    """A figure and how far it is known.

    ``float(figure)`` is its mean.
    """

    #: The mean, in ``unit``.
    mean: float
    #: Half the length of the 95% confidence interval, in ``unit``. Infinite if nothing is known about the error;
    #: ``None`` if the figure was counted or is taken as it is.
    half_width: float | None
    #: The unit's symbol; empty for a number.
    unit: str

    @property
    def interval(self) -> tuple[float, float]:
        """The ends of the 95% interval; both are the mean if there is none."""
        half = self.half_width or 0.0
        return (self.mean - half, self.mean + half)

    def agrees_with(self, other: Estimate) -> bool:
        """Whether the two intervals overlap."""
        return abs(self.mean - other.mean) <= (self.half_width or 0.0) + (other.half_width or 0.0)

    def __float__(self) -> float:
        return self.mean

    def __str__(self) -> str:
        scale, unit = _scale(self.mean, self.unit)
        shown = f"{self.mean * scale:.4g}"
        if self.half_width is not None:
            half = self.half_width * scale
            shown += f" ± {half:.2g}" if math.isfinite(half) else " ± unknown"
        return f"{shown} {unit}".rstrip()

    def _repr_html_(self) -> str:
        return f"<span>{html.escape(str(self))}</span>"


def _scale(value: float, unit: str) -> tuple[float, str]:
    """By what to multiply ``value``, and the unit of the product, so that it reads well."""
    size = abs(value)
    if unit == "ns":
        for limit, scale, name in ((1e3, 1.0, "ns"), (1e6, 1e-3, "µs"), (1e9, 1e-6, "ms")):
            if size < limit:
                return scale, name
        return 1e-9, "s"
    if unit == "/s":
        for limit, scale, name in ((1e3, 1.0, "/s"), (1e6, 1e-3, "k/s"), (1e9, 1e-6, "M/s")):
            if size < limit:
                return scale, name
        return 1e-9, "G/s"
    return 1.0, unit


def figure_of(value: Any) -> Any:
    """A figure as the native part writes it: a quantity is an :class:`Estimate`."""
    if isinstance(value, dict) and "unit" in value and "mean" in value:
        half = value.get("half_width", ...)
        # Null is not known; absent is not stated.
        half_width = None if half is ... else math.inf if half is None else half
        return Estimate(value["mean"], half_width, value["unit"])
    return tuple(map(figure_of, value)) if isinstance(value, list) else value
