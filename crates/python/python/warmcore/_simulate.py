"""Simulating a scenario."""

from __future__ import annotations

from typing import TYPE_CHECKING, overload

from . import _native
from ._document import Scenario
from ._models import Cost, Models
from ._scenarios import ClusterScenario, PacketScenario, RunQueueScenario
from .errors import ArgumentError, instance
from .policy import Policy
from .profile import Profile, document_of
from .result import ClusterResult, PacketResult, Result, RunQueueResult, result_of

if TYPE_CHECKING:
    from ._models import Arrivals


@overload
def simulate(
    scenario: PacketScenario,
    *,
    profile: Profile | None = None,
    policy: Policy | None = None,
    arrivals: Arrivals | None = None,
    cost: Cost | None = None,
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
    cost: Cost | None = None,
) -> Result:
    """Simulates a scenario: packets on processors, processes in run queues, or a cluster.

    The same scenario gives the same figures, bit by bit, on any machine and any number of threads. Other threads of
    Python run meanwhile, unless a policy or a cost is written in Python; Ctrl-C ends it soon: at
    once where traffic is generated or replayed, and after the run under way in a closed loop.

    Args:
        scenario: What to simulate.
        profile: The costs of processing, instead of those that the scenario names. (Packets only, as all that follow.)
        policy: A policy of your own instead of ``scenario.scheduling.policy``. It is asked for the search of the capacity too:
            several times as often as there are packets.
        arrivals: The packets that arrive, instead of ``scenario.traffic``: their times in ns since the start, ascending, and
            their streams, numbered from 0. Two arrays of shape (n,), of floats and of integers. As with a
            capture, the figures are of these packets alone and have no intervals: all are simulated, once, so
            ``run.packets``, ``run.warmup_packets`` and ``run.replications`` are refused, and ``run.precision`` means nothing. If
            the scenario has a ``rate_per_s``, the times are scaled to it, as those of a capture are: leave it out to replay them as
            they are. ``traffic.popularity`` is refused.
        cost: How long a packet takes that finds what ``Found`` says, from 1 to 1e9 ns; ``found.usual`` is what the profile
            says. Each run begins with a deep copy of it. Draw random numbers from ``found.random``.

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
    models = Models.checked(policy, arrivals, cost)
    figures, table = _native.simulate_with(document, models, document_of(profile))
    return result_of(scenario, figures, table, profile=profile, policy=policy)
