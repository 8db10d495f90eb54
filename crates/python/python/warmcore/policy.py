"""Policies written in Python, for exploration: what a policy is asked, what it answers.

A packet takes some 0.6 µs with a policy in Python, and some tens of nanoseconds with one in Rust. Write the one that
you keep in Rust: see the book's page *A policy of your own*.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Literal

from ._native import Found, Request, Run, View, Wait

__all__ = ["Found", "Policy", "Request", "Run", "View", "Wait"]


class Policy(ABC):
    """A rule that chooses a processor for each packet.

    A subclass says in :meth:`place` where a packet that has just arrived goes. Each run begins with a deep copy of the
    policy as it was given; it may keep state. Where packets wait is said by ``queues``, ``"common"`` by default. Draw random
    numbers from ``request.random``, which comes from the scenario's seed: so the same scenario gives the same figures. It is one
    number; who needs several makes a generator of it: ``random.Random(request.random)``.

    >>> class LowestIdle(wc.Policy):
    ...     def place(self, request, view):
    ...         idle = view.idle
    ...         return wc.Run(idle[0]) if idle else wc.Wait(request.home)
    """

    #: Where packets wait. ``"common"``, the default: in one queue, whose head the first processor to finish takes; so the
    #: processor of ``wc.Wait(cpu)`` means nothing, and ``view.loads`` is empty. ``"per-processor"``: each in the queue of
    #: ``wc.Wait(cpu)``, for that processor; ``view.load(cpu)`` tells how many are there.
    queues: ClassVar[Literal["common", "per-processor"]] = "common"

    @abstractmethod
    def place(self, request: Request, view: View) -> Run | Wait:
        """Decides where a packet that has just arrived goes.

        Args:
            request: The packet: its stream, home, and the processor that last wrote its session's lines.
            view: The processors as they are now: which are idle, their loads, how many packets wait.

        Returns:
            ``wc.Run(cpu)`` on an idle processor, or ``wc.Wait(cpu)``. Anything else ends the run with a ``ScenarioError``.
        """
