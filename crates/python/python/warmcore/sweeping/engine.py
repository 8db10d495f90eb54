"""What Dask's workers give, and what a sweep took."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple


class Done(NamedTuple):
    """A task that was done."""

    #: Its points' indices and rows.
    rows: list[tuple[int, str]]
    #: What it was estimated to take on one processor, in seconds.
    estimated_s: float
    #: What it took, in seconds of its worker.
    seconds: float
    #: The worker's address.
    worker: str


@dataclass
class Times:
    """What a sweep took in this process: the points that it found here, not those of an earlier one."""

    #: From the first task to the last row, in seconds.
    wall_s: float = 0.0
    #: How many points were simulated.
    points: int = 0
    #: How many tasks they were; on this machine each point is one.
    tasks: int = 0
    #: The seconds that each worker spent in its tasks, by its address; on this machine those of all threads, under ``""``.
    busy_s: dict[str, float] = field(default_factory=dict)

    def add(self, done: Done) -> None:
        """Counts a task."""
        self.points += len(done.rows)
        self.tasks += 1
        self.busy_s[done.worker] = self.busy_s.get(done.worker, 0.0) + done.seconds
