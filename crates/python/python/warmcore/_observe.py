"""Everything that can be observed of a point of packets."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping

from . import _native
from ._native import Table
from ._scenarios import PacketScenario
from .profile import Profile
from .result import PacketResult, result_of

__all__ = ["Observation", "observe"]


class Observation(Mapping[str, Table]):
    """What was observed of a point: tables by name, each of which any library reads that takes Arrow.

    ``"quantiles"``, ``"delays"`` and ``"services"`` (histograms), ``"streams"``, ``"time-series"``, ``"warm-up"`` and
    ``"events"``; those that were not asked for are not there. Units and half-widths are in their schemas.
    """

    #: The point's figures.
    result: PacketResult

    def __init__(self, result: PacketResult, tables: dict[str, Table]) -> None:
        self.result = result
        self._tables = tables

    def __getitem__(self, name: str) -> Table:
        return self._tables[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tables)

    def __len__(self) -> int:
        return len(self._tables)

    def __repr__(self) -> str:
        tables = ", ".join(f"{name} ({len(table)} rows)" for name, table in self._tables.items())
        return f"<Observation: {tables or 'nothing'}>\n{self.result}"

    def _repr_html_(self) -> str:
        tables = ", ".join(f"{name} ({len(table)} rows)" for name, table in self._tables.items())
        return f"{self.result._repr_html_()}<p>Tables: {tables or 'none'}</p>"


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
) -> Observation:
    """Simulates packets, and observes more of them than a result holds.

    The runs are repeated with the same packets once their lengths are known, so this takes twice as long; the result is the same.

    Args:
        scenario: What to simulate.
        quantiles: Quantiles of the delay, between 0 and 1.
        slower_than_ns: A limit of the delay in ns: the share of packets that take longer.
        histogram: The distributions of delays and service times.
        streams: The figures of each stream.
        window_ns: A time series with windows of this length.
        warmup: The delays at the start of the runs, and where they were cut.
        events: The events of the first so many packets, a row for each.
        profile: The costs of processing, instead of those that the scenario names.

    Raises:
        ScenarioError: A field cannot be used, or a quantile needs more packets than a run may have; it says how many.
        ProfileError, TrafficError: As :func:`warmcore.simulate`.
    """
    if not isinstance(scenario, PacketScenario):
        raise TypeError(f"expected a PacketScenario, not {type(scenario).__name__}")
    wanted = {
        "quantiles": [float(one) for one in quantiles],
        "slower_than": slower_than_ns,
        "histogram": histogram,
        "streams": streams,
        "window": window_ns,
        "warmup": warmup,
    }
    figures, table, tables = _native.observe(
        scenario._json(), json.dumps(wanted), events, None if profile is None else profile.to_toml()
    )
    result = result_of(scenario, figures, table)
    assert isinstance(result, PacketResult)
    return Observation(result, dict(tables))
