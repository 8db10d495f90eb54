"""Models of one's own, as the native part takes them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import _native
from .errors import ArgumentError, ScenarioError, refused
from .policy import Found, Policy

if TYPE_CHECKING:
    import numpy.typing

    #: The times of packets since the start in ns, ascending, and their streams' numbers from 0: two arrays of equal length.
    Arrivals = tuple[numpy.typing.ArrayLike, numpy.typing.ArrayLike]

#: How long a packet takes that finds this, in ns.
Cost = Callable[[Found], float]


#: How many streams a simulation takes: `MAX_STREAMS` of the workload.
_MOST_STREAMS = _native.MAX_STREAMS


@dataclass(frozen=True)
class Models:
    """What stands for a scenario's policy, arrivals and costs, checked; nothing where that is ``None``."""

    policy: Policy | None = None
    arrivals: tuple[bytes, bytes] | None = None
    cost: Cost | None = None

    @classmethod
    def checked(cls, policy: object = None, arrivals: object = None, cost: object = None) -> Models:
        """The models that a user gives.

        Raises:
            ArgumentError: One is of another type.
            ScenarioError: Arrays of another shape, or numbers that cannot be.
        """
        if cost is not None and not callable(cost):
            raise refused(ArgumentError, "cost", f"of type {type(cost).__name__}", "a function of wc.Found")
        return cls(
            policy=None if policy is None else _policy(policy),
            arrivals=None if arrivals is None else _arrivals(arrivals),
            cost=cost,
        )

    @property
    def policy_name(self) -> str | None:
        """What results, tables and charts call the policy: its class."""
        return None if self.policy is None else type(self.policy).__name__

    @property
    def common_queue(self) -> bool:
        """Whether packets wait in one queue."""
        return self.policy is None or self.policy.queues == "common"

    def __bool__(self) -> bool:
        return self != Models()


def _policy(policy: object) -> Policy:
    if not isinstance(policy, Policy):
        raise refused(ArgumentError, "policy", repr(policy), "an object of a class that derives from wc.Policy")
    if policy.queues not in ("common", "per-processor"):
        raise refused(ScenarioError, "policy.queues", repr(policy.queues), '"common" or "per-processor"')
    return policy


def _arrivals(arrivals: Any) -> tuple[bytes, bytes]:
    import numpy as np  # Who has arrays has numpy.

    def wrong(field: str, found: object, expected: str) -> ScenarioError:
        return refused(ScenarioError, field, found, expected)

    try:
        times, streams = arrivals
    except (TypeError, ValueError):
        raise wrong("arrivals", f"of type {type(arrivals).__name__}", "two arrays: times and streams") from None
    for name, array in (("arrivals.times", times), ("arrivals.streams", streams)):
        if isinstance(array, np.ma.MaskedArray) and np.ma.is_masked(array):
            raise wrong(name, "an array with masked values", "an array without: use .compressed() on both")
    try:
        times, streams = np.asarray(times), np.asarray(streams)
    except ValueError as error:
        raise wrong("arrivals", f"no array: {error}", "two arrays of shape (n,)") from None
    for name, array in (("arrivals.times", times), ("arrivals.streams", streams)):
        if array.ndim != 1:
            raise wrong(name, f"of shape {array.shape}", "an array of shape (n,)")
    if times.dtype.kind not in "iuf":
        raise wrong("arrivals.times", f"of {times.dtype}", "numbers of nanoseconds")
    if not np.issubdtype(streams.dtype, np.integer):
        raise wrong("arrivals.streams", f"of {streams.dtype}", "integers")
    if streams.size and (streams.min() < 0 or streams.max() >= _MOST_STREAMS):
        raise wrong("arrivals.streams", f"from {streams.min()} to {streams.max()}", f"numbers from 0 to {_MOST_STREAMS - 1}")
    if times.size and times.size == streams.size and (times == times[0]).all():
        found = "one packet" if times.size == 1 else f"{times[0]} for every packet"
        raise wrong("arrivals.times", found, "packets over some time: at one time they have no rate")
    return times.astype("=f8").tobytes(), streams.astype("=u4").tobytes()
