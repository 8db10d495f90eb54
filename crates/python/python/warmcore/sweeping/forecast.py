"""What a sweep on many workers would take, simulated: the scheduler's load, deaths of workers, and the writing of rows.

    python3 -m warmcore.sweeping.forecast --points 1000000 --workers 1000 --point-ms 50

Each worker has one task that runs and one that waits (Dask's ``worker-saturation``). The scheduler is one server, which each task
that ends keeps busy for a while; so is the client, which writes rows and hands the next task over. A worker dies at random times,
its tasks are done again by others, and another takes its place a while later. The lengths of tasks are chosen by the same
:class:`~warmcore.sweeping.batches.Batcher` that :func:`warmcore.sweep` uses. The same arguments give the same figures.
"""

from __future__ import annotations

import argparse
import heapq
import math
import random
import sys
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from .batches import TASK_OVERHEAD_S, UNDER_WAY, Batcher

#: Points are begun longest first within so many of them, as the program does.
_WINDOW = 65_536
#: What runs and waits at a worker of one thread.
_AT_WORKER = 2


@dataclass(frozen=True)
class Costs:
    """What a sweep is made of. Times are in seconds; measured ones by ``bench/sweep/measure.py``."""

    #: A point on one processor, on average.
    point_s: float = 0.05
    #: The spread of points: the standard deviation of the logarithm.
    spread: float = 0.7
    #: How far a point is from its estimate: the standard deviation of the logarithm.
    error: float = 0.3
    #: The scheduler's time for each task.
    task_s: float = TASK_OVERHEAD_S
    #: The client's time for each task, besides its rows.
    client_task_s: float = 0.002
    #: The client's time to keep and write a row.
    row_s: float = 35e-6
    #: Bytes of a row on its way.
    row_bytes: float = 500.0
    #: From the scheduler to a worker.
    latency_s: float = 0.002
    #: A worker's mean life; 0 if none dies.
    life_s: float = 6 * 3600.0
    #: Until another has taken the place of a dead worker.
    replaced_s: float = 60.0


@dataclass(frozen=True)
class Forecast:
    """What a sweep came to."""

    #: How long it takes.
    makespan_s: float
    #: The part of the workers' time in which they simulate what counts.
    workers_busy: float
    #: The part of the scheduler's time that tasks take.
    scheduler_busy: float
    #: The part of the client's time that it needs.
    client_busy: float
    #: How many tasks there were.
    tasks: int
    #: How many of them were lost with their workers, and done again.
    lost: int
    #: Bytes of rows in a second, through the scheduler.
    bytes_per_s: float


def points_of(points: int, costs: Costs, seed: int = 1) -> list[tuple[int, float]]:
    """Points that differ in length, in the order in which they are begun."""
    draw = random.Random(seed)
    # The mean of a lognormal is exp(mu + sigma^2 / 2).
    scale = costs.point_s / _mean_of_lognormal(costs.spread)
    lengths = [scale * draw.lognormvariate(0.0, costs.spread) for _ in range(points)]
    ordered: list[tuple[int, float]] = []
    for begin in range(0, points, _WINDOW):
        window = range(begin, min(begin + _WINDOW, points))
        ordered.extend((index, lengths[index]) for index in sorted(window, key=lambda index: -lengths[index]))
    return ordered


def _mean_of_lognormal(spread: float) -> float:
    return math.exp(spread * spread / 2.0)


def simulate(
    points: Sequence[tuple[int, float]], workers: int, costs: Costs, task_s: float | None = None, seed: int = 1
) -> Forecast:
    """The sweep of ``points`` on so many ``workers``, with tasks of ``task_s`` seconds, or as :func:`warmcore.sweep` chooses."""
    return _Simulation(points, workers, costs, task_s, seed).run()


class _Simulation:
    def __init__(
        self, points: Sequence[tuple[int, float]], workers: int, costs: Costs, task_s: float | None, seed: int
    ) -> None:
        self._costs = costs
        self._workers = workers
        self._draw = random.Random(seed)
        self._batcher = Batcher(points, task_s)
        #: Tasks with the scheduler: how long they really take, were estimated to take, and their points.
        self._queued: deque[tuple[float, float, int]] = deque()
        self._at: list[deque[tuple[float, float, int]]] = [deque() for _ in range(workers)]
        #: The number of a worker's life: what was to happen to an earlier one does not.
        self._life = [0] * workers
        self._began = [0.0] * workers
        self._events: list[tuple[float, int, str, int, int]] = []
        self._number = 0
        self._under_way = 0
        #: Slots of workers that wait for a task.
        self._asking: deque[tuple[int, int]] = deque()
        self._scheduler_free = self._scheduler_s = 0.0
        self._client_free = self._client_s = 0.0
        self._useful_s = self._bytes = 0.0
        self._tasks = self._lost = 0
        self._end = 0.0

    def run(self) -> Forecast:
        self._refill(0.0)
        for worker in range(self._workers):
            self._born(0.0, worker)
        while self._under_way:
            now, _, what, worker, life = heapq.heappop(self._events)
            if what == "reborn":
                self._born(now, worker)
            elif what == "submitted":
                self._refill(now)
            elif life == self._life[worker]:
                getattr(self, f"_{what}")(now, worker)
        makespan = max(self._end, 1e-12)
        return Forecast(
            makespan,
            self._useful_s / (makespan * self._workers),
            self._scheduler_s / makespan,
            self._client_s / makespan,
            self._tasks,
            self._lost,
            self._bytes / makespan,
        )

    def _at_time(self, time: float, what: str, worker: int) -> None:
        self._number += 1
        heapq.heappush(self._events, (time, self._number, what, worker, self._life[worker]))

    def _scheduler(self, now: float) -> float:
        """When the scheduler has dealt with one more task."""
        self._scheduler_free = max(now, self._scheduler_free) + self._costs.task_s
        self._scheduler_s += self._costs.task_s
        return self._scheduler_free

    def _refill(self, now: float) -> None:
        """The client hands tasks over until enough are under way."""
        while self._batcher and self._under_way < UNDER_WAY * self._workers:
            indices, estimated = self._batcher.take(self._workers, self._costs.task_s)
            error = self._costs.error
            # The error of a task's sum is smaller than a point's.
            spread = error / max(len(indices), 1) ** 0.5
            real = estimated * self._draw.lognormvariate(0.0, spread) / _mean_of_lognormal(spread)
            self._queued.append((real, estimated, len(indices)))
            self._under_way += 1
            self._tasks += 1
        self._assign(now)

    def _assign(self, now: float) -> None:
        while self._queued and self._asking:
            worker, life = self._asking.popleft()
            if life == self._life[worker]:
                self._at[worker].append(self._queued.popleft())
                if len(self._at[worker]) == 1:
                    self._begin(now + self._costs.latency_s, worker)

    def _begin(self, now: float, worker: int) -> None:
        self._began[worker] = now
        self._at_time(now + self._at[worker][0][0], "ended", worker)

    def _ended(self, now: float, worker: int) -> None:
        real, estimated, points = self._at[worker].popleft()
        if self._at[worker]:
            self._begin(now, worker)
        self._useful_s += real
        self._bytes += points * self._costs.row_bytes
        told = self._scheduler(now)
        client_s = self._costs.client_task_s + points * self._costs.row_s
        self._client_free = max(told, self._client_free) + client_s
        self._client_s += client_s
        self._end = max(self._end, self._client_free)
        self._under_way -= 1
        self._batcher.measured(estimated, real)
        self._asking.append((worker, self._life[worker]))
        self._at_time(told, "told", worker)
        self._at_time(self._client_free, "submitted", worker)

    def _told(self, now: float, _worker: int) -> None:
        self._assign(now)

    def _born(self, now: float, worker: int) -> None:
        self._asking.extend([(worker, self._life[worker])] * _AT_WORKER)
        if self._costs.life_s > 0.0:
            self._at_time(now + self._draw.expovariate(1.0 / self._costs.life_s), "dead", worker)
        self._assign(now)

    def _dead(self, now: float, worker: int) -> None:
        lost = self._at[worker]
        self._lost += len(lost)
        # Others do them next.
        self._queued.extendleft(reversed(lost))
        lost.clear()
        self._life[worker] += 1
        self._at_time(now + self._costs.replaced_s, "reborn", worker)
        self._assign(now)


def main() -> int:
    """Prints what the sweep that the command line describes would take, by the length of its tasks."""
    parser = argparse.ArgumentParser(prog="python3 -m warmcore.sweeping.forecast", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--points", type=int, default=1_000_000)
    parser.add_argument("--workers", type=int, default=1_000)
    parser.add_argument("--point-ms", type=float, default=Costs.point_s * 1e3, help="a point on one processor, on average")
    parser.add_argument("--task-ms", type=float, default=Costs.task_s * 1e3, help="the scheduler's time for each task")
    parser.add_argument("--client-task-ms", type=float, default=Costs.client_task_s * 1e3, help="the client's time for each task")
    parser.add_argument("--row-bytes", type=float, default=Costs.row_bytes, help="bytes of a row on its way")
    parser.add_argument("--row-us", type=float, default=Costs.row_s * 1e6, help="the client's time for each row")
    parser.add_argument("--life-h", type=float, default=Costs.life_s / 3600.0, help="a worker's mean life; 0 if none dies")
    parser.add_argument("--tasks-s", type=float, nargs="*", default=[1.0, 2.0, 4.0, 8.0, 16.0, 32.0], help="lengths to try")
    given = parser.parse_args()
    costs = Costs(
        point_s=given.point_ms / 1e3,
        task_s=given.task_ms / 1e3,
        client_task_s=given.client_task_ms / 1e3,
        row_s=given.row_us / 1e6,
        row_bytes=given.row_bytes,
        life_s=given.life_h * 3600.0,
    )
    points = points_of(given.points, costs)
    ideal = sum(seconds for _, seconds in points) / given.workers
    print(f"{given.points:,} points of {given.point_ms:g} ms on {given.workers:,} workers; without any overhead {ideal:.0f} s")
    print("tasks of   makespan  workers busy  scheduler busy  client busy    tasks   lost  rows MB/s")
    for task_s in [*given.tasks_s, None]:
        forecast = simulate(points, given.workers, costs, task_s)
        name = "chosen" if task_s is None else f"{task_s:g} s"
        print(
            f"{name:>8} {forecast.makespan_s:>9.1f} s {forecast.workers_busy:>12.1%} {forecast.scheduler_busy:>15.1%}"
            f" {forecast.client_busy:>12.1%} {forecast.tasks:>8,} {forecast.lost:>6,} {forecast.bytes_per_s / 1e6:>10.2f}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
