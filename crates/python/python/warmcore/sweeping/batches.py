"""How many points are a task.

A task costs the scheduler some milliseconds, whatever it does, and what a worker was at is lost when it dies. Longer tasks cost
the scheduler less; shorter ones lose less, and end more evenly.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

#: What a task costs the scheduler, in seconds: Dask's documentation says up to 1 ms; ``bench/sweep`` measured 2.2 ms.
TASK_OVERHEAD_S = 0.002
#: The part of the scheduler's time that tasks may take. It has other work: heartbeats, workers that come and go.
SCHEDULER_SHARE = 0.25
#: The part of a sweep's length by which a task may prolong it at its end.
TAIL_SHARE = 0.01
#: A task lasts at least so long, unless all work is less: what a worker waits between two tasks is some milliseconds.
SHORTEST_TASK_S = 0.2
#: A task lasts at most so many times what the scheduler needs: what a dead worker takes with it is done again.
LONGEST_TASKS = 4
#: Near the end of a sweep tasks get shorter, down to this part of what the scheduler needs.
LAST_SHARE = 0.5
#: Tasks under way for each thread of the workers: one runs, the others wait there for it to end.
UNDER_WAY = 3
#: The most points of a task: its result is about as many half kilobytes.
MOST_POINTS = 4096


def task_seconds(left_s: float, workers: int, overhead_s: float = TASK_OVERHEAD_S, all_s: float | None = None) -> float:
    """How long the next task is to last, in seconds, where what is left takes ``left_s`` on one processor, and all took ``all_s``.

    The scheduler bounds it from below: ``workers / task_seconds`` tasks end in a second. The end of the sweep bounds it from
    above: then some workers have a task while others have none left. Where both cannot be had, the scheduler decides.
    """
    workers = max(workers, 1)
    least = max(workers * overhead_s / SCHEDULER_SHARE, SHORTEST_TASK_S)
    tail = min(TAIL_SHARE * left_s / workers, LONGEST_TASKS * least)
    # Little work for each worker: still several tasks, so that none waits for another's last; but not so many that the
    # scheduler is what all wait for.
    shortest = min(LAST_SHARE * least, (left_s if all_s is None else all_s) / workers)
    return min(max(least, tail), max(left_s / workers / 4, shortest))


class Batcher:
    """Takes points in their order into tasks of about equal length, by what points have been found to take.

    Args:
        points: The points' indices in the order in which to begin them, and what each may take, in seconds.
        task_s: How long each task is to last; :func:`task_seconds` by default.
    """

    def __init__(self, points: Iterable[tuple[int, float]], task_s: float | None = None) -> None:
        self._task_s = task_s
        self._points = deque(points)
        self._left_s = self._all_s = sum(seconds for _, seconds in self._points)
        self._estimated_s = 0.0
        self._measured_s = 0.0

    def __bool__(self) -> bool:
        return bool(self._points)

    @property
    def left_s(self) -> float:
        """What all that is left takes on one processor, in seconds."""
        return self._left_s * self.factor

    @property
    def factor(self) -> float:
        """How many times as long as estimated points have taken so far."""
        return self._measured_s / self._estimated_s if self._estimated_s > 0.0 else 1.0

    def measured(self, estimated_s: float, seconds: float) -> None:
        """Notes that what was estimated to take ``estimated_s`` took ``seconds``."""
        self._estimated_s += estimated_s
        self._measured_s += seconds

    def take(self, workers: int, overhead_s: float = TASK_OVERHEAD_S) -> tuple[list[int], float]:
        """The next task for one of ``workers``: its points, and their estimated seconds."""
        wanted = self._task_s or task_seconds(self.left_s, workers, overhead_s, self._all_s * self.factor)
        target = wanted / max(self.factor, 1e-9)
        batch: list[int] = []
        seconds = 0.0
        while self._points and len(batch) < MOST_POINTS and (not batch or seconds + self._points[0][1] <= target):
            index, estimated = self._points.popleft()
            batch.append(index)
            seconds += estimated
        self._left_s = max(self._left_s - seconds, 0.0)
        return batch, seconds
