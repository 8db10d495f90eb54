"""Everything that can be observed of a point of packets."""

from __future__ import annotations

import difflib
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from . import _native
from ._models import Cost, Models
from ._native import Table
from ._scenarios import PacketScenario
from .errors import ArgumentError, ScenarioError, flag, instance, known, number, refused, whole
from .policy import Policy
from .profile import Profile, document_of
from .result import Estimate, PacketResult, result_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ._models import Arrivals

__all__ = ["Observation", "observe"]


#: Which argument of :func:`observe` asks for a table.
_ASKED_BY = {
    "quantiles": "quantiles=[0.9]",
    "slower": "slower_than_ns=500_000",
    "delays": "histogram=True",
    "services": "histogram=True",
    "histogram": "histogram=True",
    "streams": "streams=True",
    "time-series": "window_ns=1e9",
    "warm-up": "warmup=True",
    "events": "events=1_000",
}


class NoTable(ScenarioError, KeyError):
    """An observation has no table of this name. It is a ``KeyError`` too, as of any mapping."""

    def __init__(self, message: str, tables: Iterable[str] | None = None, **details: str | None) -> None:
        if tables is None:  # Restored from what was pickled.
            super().__init__(message, **details)
            return
        there = ", ".join(map(repr, tables)) or "none"
        near = difflib.get_close_matches(message, _ASKED_BY, 1) if isinstance(message, str) else []
        hint = ""
        if message == "histogram":
            hint = "; the histograms are 'delays' and 'services'"
        elif near:
            hint = f"; {near[0]!r} is there with observe(…, {_ASKED_BY[near[0]]})"
        expected = f"a table that was asked for ({there}){hint}"
        super().__init__(f"`name` is {ascii(message)}, expected {expected}", field="name", found=ascii(message), expected=expected)

    __str__ = Exception.__str__


class Observation(Mapping[str, Table]):
    """What was observed of a point: tables by name, each of which any library reads that takes Arrow.

    ``"quantiles"``, ``"slower"`` (the share of packets slower than a limit), ``"delays"`` and ``"services"`` (histograms), ``"streams"``, ``"time-series"``, ``"warm-up"`` and
    ``"events"``; those that were not asked for are not there. Units and half-widths are in their schemas.
    """

    #: The point's figures.
    result: PacketResult

    def __init__(self, result: PacketResult, tables: dict[str, Table]) -> None:
        self.result = result
        self._tables = tables

    @property
    def slower(self) -> Estimate | None:
        """The share of packets that take longer than ``slower_than_ns``, a fraction of 1; ``None`` if that was not asked for, or
        the host is saturated."""
        if "slower" not in self._tables:
            return None
        row = self._tables["slower"].row(0)
        half = row["share_half_width"]
        return Estimate(row["share"], math.inf if half is None else half, "")

    def plot(self, name: str = "delays", *, scale: str = "log", ax: Any = None) -> Figure:
        """Draws a histogram with matplotlib, ``"delays"`` or ``"services"``, as a density: areas are shares of the packets. Needs
        ``warmcore[plot]``.

        Args:
            name: Which of the two. They are there if ``histogram=True`` asked for them.
            scale: ``"log"``: the share of packets per e-fold, over a logarithmic axis; ``"linear"``: the share per second.
            ax: Axes to draw into; a figure of its own otherwise.
        """
        from .plotting import histogram

        labels = {"delays": "delay", "services": "service time"}
        if name not in labels or name not in self._tables:
            expected = "a histogram that was asked for: \"delays\" or \"services\", with `histogram=True`"
            raise refused(ScenarioError, "name", repr(name), expected)
        return histogram(self._tables[name], f"Distribution of the {labels[name]}s", labels[name], scale=scale, ax=ax)

    def __getitem__(self, name: str) -> Table:
        if name not in self._tables:
            raise NoTable(name, self._tables)
        return self._tables[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tables)

    def __len__(self) -> int:
        return len(self._tables)

    def __repr__(self) -> str:
        return f"<Observation: {self._named()}>\n{self.result}"

    def _named(self) -> str:
        """The tables by name, and why there are none."""
        tables = ", ".join(f"{name} ({len(table)} rows)" for name, table in self._tables.items())
        saturated = "; the host is saturated: only a time series and events can be observed" if self.result.saturated else ""
        return (tables or "nothing") + saturated

    def _repr_html_(self) -> str:
        return f"{self.result._repr_html_()}<p>Tables: {self._named()}</p>"


def observe(
    scenario: PacketScenario,
    *,
    quantiles: Iterable[float] = (),
    slower_than_ns: float | None = None,
    histogram: bool = False,
    streams: bool = False,
    window_ns: float | None = None,
    warmup: bool = False,
    events: int = 0,
    profile: Profile | None = None,
    policy: Policy | None = None,
    arrivals: Arrivals | None = None,
    cost: Cost | None = None,
) -> Observation:
    """Simulates packets, and observes more of them than a result holds.

    The runs are repeated with the same packets once their lengths are known, so this takes twice as long; the result is the same.
    Models of your own are asked again too.

    Args:
        scenario: What to simulate.
        quantiles: Quantiles of the delay, between 0 and 1.
        slower_than_ns: A limit of the delay in ns: the share of packets that take longer is ``.slower``, and a table.
        histogram: The distributions of delays and service times.
        streams: The figures of each stream.
        window_ns: A time series with windows of this length.
        warmup: The delays at the start of the runs, and where they were cut.
        events: The events of the first so many packets, a row for each.
        profile: The costs of processing, instead of those that the scenario names.
        policy, arrivals, cost: Models of your own, as :func:`warmcore.simulate` takes them.

    Raises:
        ScenarioError: A field cannot be used, or a quantile needs more packets than a run may have; it says how many.
        ProfileError, TrafficError: As :func:`warmcore.simulate`.
    """
    instance(scenario, PacketScenario, "scenario", "a PacketScenario")
    if isinstance(quantiles, (str, bytes)) or not isinstance(quantiles, Iterable):
        raise refused(ArgumentError, "quantiles", f"of type {type(quantiles).__name__}", "numbers between 0 and 1")
    limit, window = slower_than_ns, window_ns
    wanted = {
        "quantiles": [number(one, "quantiles", "numbers between 0 and 1, such as 0.99") for one in quantiles],
        "slower_than": None if limit is None else number(limit, "slower_than_ns", "a time of zero or more", least=0.0),
        "histogram": flag(histogram, "histogram", "True or False"),
        "streams": flag(streams, "streams", "True or False"),
        "window": None if window is None else number(window, "window_ns", "a time above zero", least=0.0),
        "warmup": flag(warmup, "warmup", "True or False"),
    }
    recorded = whole(events, "events", "a number of packets, 0 for none")
    figures, table, tables = _native.observe(
        scenario._json(), json.dumps(wanted), Models.checked(policy, arrivals, cost), recorded, document_of(profile)
    )
    result = result_of(scenario, figures, table, profile=profile, policy=policy)
    assert isinstance(result, PacketResult)
    return Observation(result, dict(tables))
