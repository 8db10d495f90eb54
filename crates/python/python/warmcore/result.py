"""What a simulation came to: figures with intervals, and tables."""

from __future__ import annotations

import html
import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from ._estimate import Estimate, figure_of
from ._native import Table
from ._tables import Tabular, html_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ._document import Scenario
    from .policy import Policy
    from .profile import Profile

__all__ = ["ClusterResult", "Estimate", "PacketResult", "Result", "RunQueueResult"]


class Result(Tabular, Mapping[str, Any]):
    """What a simulation came to.

    A mapping from the names of figures to their values: an :class:`Estimate` for a quantity, a number for a count, ``None`` for
    what does not exist, such as the delay of a saturated host. Each figure is an attribute too: ``result.delay``.

    Any library that takes Arrow's C stream reads the table without copying: ``pyarrow.table(result)``,
    ``polars.DataFrame(result)``.
    """

    _classes: ClassVar[dict[str, type[Result]]] = {}

    #: What was simulated.
    scenario: Scenario
    #: The table: a row for the point, for each application of a run queue, or for each processor of a cluster. Units
    #: and the names of the columns with half-widths are in its schema.
    table: Table

    #: What stood for a field of the scenario, by the field's path: a profile that was given, by its name, and a policy of your
    #: own, by its class's.
    replaced: dict[str, str]

    def __init__(self, scenario: Scenario, figures: str, table: Table, replaced: Mapping[str, str] | None = None) -> None:
        self.scenario = scenario
        self.table = table
        self.replaced = dict(replaced or {})
        self._figures = {name: figure_of(value) for name, value in json.loads(figures).items()}

    def _rows(self) -> Table:
        return self.table

    def __init_subclass__(cls, kind: str = "") -> None:
        Result._classes[kind] = cls

    @property
    def figures(self) -> dict[str, Any]:
        """All figures by name."""
        return dict(self._figures)

    def __getitem__(self, name: str) -> Any:
        return self._figures[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._figures)

    def __len__(self) -> int:
        return len(self._figures)

    def __getattr__(self, name: str) -> Any:
        figures = self.__dict__.get("_figures", {})
        if name in figures:
            return figures[name]
        raise AttributeError(f"{type(self).__name__} has no figure `{name}`; it has {', '.join(figures)}")

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._figures})

    def __str__(self) -> str:
        width = max(map(len, self._figures), default=0)
        return "\n".join(f"{name:{width}}  {_shown(value)}" for name, value in self._figures.items())

    def __repr__(self) -> str:
        own = "".join(f", {path} = {name}" for path, name in self.replaced.items())
        return f"<{type(self).__name__} of {self.scenario!r}{own}>\n{self}"

    def _repr_html_(self) -> str:
        own = html.escape("".join(f", {path} = {name}" for path, name in self.replaced.items()))
        rows = [(name, _shown(value)) for name, value in self._figures.items()]
        return html_table(f"<b>{type(self).__name__}</b>{own}; ± is half a 95% interval", rows, texts=2)


class PacketResult(Result, kind="packet"):
    """What a point came to: packets on processors.

    Source: the model of Salehi, Kurose & Towsley 1994, §3 and §4.

    Attributes:
        delay: Mean time from a packet's arrival to the end of its processing, ns. With Poisson arrivals their known mean gap
            narrows its interval (a control variate), so it differs from the plain mean of the packets in ``observe`` within it.
        service: Mean time in service, ns.
        p50: The delay that half of the packets are below, ns.
        p99: That of one packet in a hundred, ns.
        p999: That of one packet in a thousand, ns.
        utilisation: The fraction of the processors' time that goes into protocol work.
        rate: Packets that arrive, /s.
        throughput: Packets finished, /s.
        capacity: The highest rate at which no queue grows for ever, /s; ``None`` in a closed loop, where none does.
        capacity_service: Mean time in service when every processor is busy, ns.
        lost_fraction: The fraction of packets that find a full queue; ``None`` without ``queues.limit``.
        class_delays: The mean delay of each class in ns, the most urgent one first; empty without classes.
        saturated: Whether more arrives than can be processed; ``None`` where that is not decided.
        fairness: Jain's index of the streams' mean delays: 1 if all are equal.
        situations: How many packets found which state of the caches (Table 2).
        ended: Why the run ended, as a word: ``"precise"``, ``"exhausted"``, …
        packets: Packets simulated, the warm-up included.
        wall_time: How long simulating took, s.
    """

    delay: Estimate | None
    service: Estimate | None
    p50: Estimate | None
    p99: Estimate | None
    p999: Estimate | None
    utilisation: Estimate | None
    rate: Estimate
    throughput: Estimate | None
    capacity: Estimate | None
    capacity_service: Estimate | None
    lost_fraction: Estimate | None
    class_delays: tuple[Estimate, ...]
    fairness: Estimate | None
    least_stream_delay: Estimate | None
    greatest_stream_delay: Estimate | None
    saturated: bool | None
    precise: bool
    ended: str
    packets: int | None
    warmup_packets: int | None
    situations: dict[str, int] | None
    wall_time: Estimate

    def plot(self, *, ax: Any = None) -> Figure:
        """Draws the delays with matplotlib, in the colours of the report. Needs ``warmcore[plot]``."""
        from .plotting import bars

        names = ["service", "delay", "p50", "p99", "p999"]
        return bars("Time of a packet", "time", "ns", names, {"": [self[name] for name in names]}, ax)


class RunQueueResult(Result, kind="run-queue"):
    """What the runs of processes in run queues came to; the table has a row for each application.

    Source: Torrellas, Tucker & Gupta 1995; Linux's fair scheduler.

    Attributes:
        duration: Length of a run, s.
        utilisation: The fraction of the processors' time in which they had something to run.
        completion: Mean completion time of the applications that are not in the background, s.
        progress: Computing time of those in a second: so many processors, had they no caches to fill.
        misses: Cache misses of all applications.
        dispatch_rate: Dispatches, /s.
        migration_rate: Dispatches on another processor than the one before, /s.
        wall_time: How long simulating took, s.
    """

    duration: Estimate
    utilisation: Estimate
    completion: Estimate | None
    progress: Estimate | None
    misses: Estimate
    dispatch_rate: Estimate
    migration_rate: Estimate
    runs: int
    processes: int
    wall_time: Estimate

    def plot(self, *, ax: Any = None) -> Figure:
        """Draws the applications' times on processors with matplotlib. Needs ``warmcore[plot]``."""
        from .plotting import bars

        rows = [self.table.row(index) for index in range(len(self.table))]
        series = {
            label: [_cell(row, name, "s") for row in rows]
            for label, name in (("on processors", "cpu_time"), ("of that, computing", "compute_time"))
        }
        return bars("Time on processors", "time", "s", [row["application"] for row in rows], series, ax)


class ClusterResult(Result, kind="cluster"):
    """What a cluster's run came to, in cycles of 400 MHz; the table has a row for each processor that computes.

    Source: Falsafi 1998.

    Attributes:
        cycles: When the last processor left the program, cycles.
        time: The same, s.
        remote_read: What a microbenchmark of remote reads measured, cycles.
        bandwidth: What one of bandwidth measured, bytes/cycle.
        round_trip: What one of requests measured, cycles.
        messages: How many messages of which kind were sent.
        bytes: Bytes that were sent.
        wall_time: How long simulating took, s.
    """

    cycles: Estimate
    time: Estimate
    remote_read: Estimate | None
    bandwidth: Estimate | None
    round_trip: Estimate | None
    messages: dict[str, int]
    bytes: int
    wall_time: Estimate

    def plot(self, *, ax: Any = None) -> Figure:
        """Draws where the processors' time went with matplotlib. Needs ``warmcore[plot]``."""
        from .plotting import bars

        rows = [self.table.row(index) for index in range(len(self.table))]
        parts = ("computing", "remote_miss_time", "synchronization", "protocol")
        series = {part.replace("_", " "): [_cell(row, part, "cycles") for row in rows] for part in parts}
        names = [f"{row['node']}.{row['processor']}" for row in rows]
        return bars("Where the time of each processor went", "time", "cycles", names, series, ax)


def result_of(
    scenario: Scenario, figures: str, table: Table, *, profile: Profile | None = None, policy: Policy | None = None
) -> Result:
    """The result of ``scenario`` from what the native part returns, with what stood for its profile and policy."""
    replaced = {} if profile is None else {"profile": profile.name}
    if policy is not None:
        replaced["scheduling.policy"] = type(policy).__name__
    return Result._classes[scenario.kind](scenario, figures, table, replaced)


def _cell(row: dict[str, Any], name: str, unit: str) -> Estimate | None:
    return None if row[name] is None else Estimate(float(row[name]), row.get(f"{name}_half_width"), unit)


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}: {count}" for name, count in value.items() if count)
    if isinstance(value, tuple):
        return ", ".join(map(_shown, value)) or "–"
    return "–" if value is None else str(value)


