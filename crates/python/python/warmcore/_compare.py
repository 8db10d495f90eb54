"""Two ways to process the same packets."""

from __future__ import annotations

from . import _native
from ._models import Cost, Models
from ._scenarios import PacketScenario
from .errors import instance
from .policy import Policy
from .profile import Profile, document_of
from .result import Estimate, Result

__all__ = ["Comparison", "compare"]


class Comparison(Result, kind="comparison"):
    """How much the mean delays of two ways to process the same packets differ; the table has one row.

    Source: common random numbers, Law 2015, §11.2.

    Attributes:
        difference: Mean delay of the scenario minus that of ``against``, ns; ``None`` if either is saturated. The half-width is
            infinite where no interval holds: with heavy-tailed arrivals or service times.
        relative: The same as a fraction of the delay of ``against``.
        runs: Runs of each of the two. Run ``i`` of both has the same packets.
        packets: Packets of each run.
        wall_time: How long simulating took, s.
    """

    #: What it was compared with.
    against: PacketScenario
    difference: Estimate | None
    relative: Estimate | None
    runs: int
    packets: int
    wall_time: Estimate

    @property
    def decided(self) -> bool:
        """Whether the interval leaves no doubt which of the two is faster."""
        found = self.difference
        return found is not None and abs(found.mean) > (found.half_width or 0.0)


def compare(
    scenario: PacketScenario,
    against: PacketScenario | None = None,
    *,
    policy: Policy | None = None,
    cost: Cost | None = None,
    against_policy: Policy | None = None,
    against_cost: Cost | None = None,
    profile: Profile | None = None,
) -> Comparison:
    """Compares two ways to process the same packets, as ``warmcore simulate packet --against``.

    What the packets do to both cancels out, so that the interval of the difference is far narrower than those of the two delays.

    >>> wc.compare(scenario, scenario.replace({"scheduling.policy": "wired-streams"})).difference
    >>> wc.compare(scenario, policy=Mine()).relative  # against the policy that the scenario names

    Each of the two is simulated 20 times, or ``run.replications`` times if these are more, with 200,000 packets or
    ``run.packets``. A policy in Python costs some microseconds for each of them: give fewer packets for a first look.

    Args:
        scenario: What is compared.
        against: What it is compared with; the same scenario without this. Its seed, rate, traffic and runs must be those of
            ``scenario``; anything else may differ.
        policy, cost: Models of your own for ``scenario``, as :func:`warmcore.simulate` takes them.
        against_policy, against_cost: Models of your own for ``against``.
        profile: The costs of processing of both, instead of those that they name.

    Raises:
        ScenarioError: A field cannot be used; ``against`` would see other packets; or these are recorded, which is one run.
        ProfileError, TrafficError: As :func:`warmcore.simulate`.
    """
    instance(scenario, PacketScenario, "scenario", "a PacketScenario")
    other = scenario if against is None else against
    instance(other, PacketScenario, "against", "a PacketScenario")
    ours, theirs = Models.checked(policy, cost=cost), Models.checked(against_policy, cost=against_cost)
    figures, table = _native.compare(scenario._json(), ours, other._json(), theirs, document_of(profile))
    replaced = {
        "profile": None if profile is None else profile.name,
        "scheduling.policy": ours.policy_name,
        "against.scheduling.policy": theirs.policy_name,
    }
    found = Comparison(scenario, figures, table, {field: name for field, name in replaced.items() if name is not None})
    found.against = other
    return found
