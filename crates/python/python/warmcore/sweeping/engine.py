"""What engines give."""

from __future__ import annotations

from typing import NamedTuple


class Done(NamedTuple):
    """A task that was done."""

    #: Its points' indices and rows.
    rows: list[tuple[int, str]]
    #: What it was estimated to take on one processor, in seconds.
    estimated_s: float
    #: What it took, in seconds of its worker.
    seconds: float
    #: The worker's address; empty on this machine.
    worker: str
