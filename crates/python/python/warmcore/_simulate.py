"""Simulating a scenario."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, overload

from . import _native
from ._document import Scenario
from ._scenarios import ClusterScenario, PacketScenario, RunQueueScenario
from .errors import ArgumentError, ScenarioError, instance, refused
from .policy import Found, Policy
from .profile import Profile, document_of
from .result import ClusterResult, PacketResult, Result, RunQueueResult, result_of

if TYPE_CHECKING:
    import numpy.typing

    #: The times of packets since the start in ns, ascending, and their streams' numbers from 0: two arrays of equal length.
    Arrivals = tuple[numpy.typing.ArrayLike, numpy.typing.ArrayLike]


@overload
def simulate(
    scenario: PacketScenario,
    *,
    profile: Profile | None = None,
    policy: Policy | None = None,
    arrivals: Arrivals | None = None,
    cost: Callable[[Found], float] | None = None,
) -> PacketResult: ...
@overload
def simulate(scenario: RunQueueScenario) -> RunQueueResult: ...
@overload
def simulate(scenario: ClusterScenario) -> ClusterResult: ...
@overload
def simulate(scenario: Scenario) -> Result: ...
def simulate(
    scenario: Scenario,
    *,
    profile: Profile | None = None,
    policy: Policy | None = None,
    arrivals: Arrivals | None = None,
    cost: Callable[[Found], float] | None = None,
) -> Result:
    """Simulates a scenario: packets on processors, processes in run queues, or a cluster.

    The same scenario gives the same figures, bit by bit, on any machine and any number of threads. Other threads of
    Python run meanwhile, unless a policy or a cost is written in Python; Ctrl-C ends it soon: at
    once where traffic is generated or replayed, and after the run under way in a closed loop.

    Args:
        scenario: What to simulate.
        profile: The costs of processing, instead of those that the scenario names. (Packets only, as all that follow.)
        policy: A policy of your own instead of ``scenario.scheduling.policy``.
        arrivals: The packets that arrive, instead of ``scenario.traffic``: their times in ns since the start, ascending, and
            their streams, numbered from 0. Two arrays of shape (n,), of floats and of integers. As with a
            capture, the figures are of these packets alone and have no intervals. If the scenario has a ``rate_per_s``, the times
            are scaled to it: leave it out to replay them as they are. ``traffic.popularity`` goes with no arrivals.
        cost: How long a packet takes that finds what ``Found`` says, from 1 to 1e9 ns; ``found.usual`` is what the profile
            says.

    Returns:
        Figures with the half-widths of their 95% intervals, and an Arrow table.

    Raises:
        ScenarioError: A field cannot be used, or a model of your own returned something impossible; ``error.field`` says
            which.
        ProfileError: The profile lacks costs that the scenario needs.
        TrafficError: The traffic cannot be generated, or its capture not be read.
    """
    instance(scenario, Scenario, "scenario", "a scenario, such as wc.PacketScenario(rate_per_s=20_000)")
    document = scenario._json()
    given = {"profile": profile, "policy": policy, "arrivals": arrivals, "cost": cost}
    given = {name: value for name, value in given.items() if value is not None}
    if not given:
        return result_of(scenario, *_native.simulate(scenario.kind, document))
    if not isinstance(scenario, PacketScenario):
        names = ", ".join(given)
        raise ArgumentError(
            f"`{names}`: only a PacketScenario takes these, not a {type(scenario).__name__}",
            field=next(iter(given)),
            found="given",
            expected=f"none with a {type(scenario).__name__}",
        )
    if cost is not None and not callable(cost):
        raise refused(ArgumentError, "cost", f"of type {type(cost).__name__}", "a function of wc.Found")
    figures, table = _native.simulate_with(
        document,
        profile=document_of(profile),
        arrivals=None if arrivals is None else _arrivals(arrivals),
        policy=None if policy is None else _checked(policy),
        policy_name=None if policy is None else type(policy).__name__,
        common_queue=policy is None or policy.queues == "common",
        cost=cost,
    )
    return result_of(scenario, figures, table, profile=profile, policy=policy)


def _checked(policy: Any) -> Policy:
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
    if streams.size and (streams.min() < 0 or streams.max() >= 1 << 32):
        raise wrong("arrivals.streams", f"from {streams.min()} to {streams.max()}", "numbers from 0")
    return times.astype("=f8").tobytes(), streams.astype("=u4").tobytes()
