"""The highest rate of a host."""

from __future__ import annotations

from . import _native
from ._models import Cost, Models
from ._native import Table
from ._scenarios import PacketScenario
from .errors import instance, number
from .policy import Policy
from .profile import Profile, document_of
from .result import Estimate, Result

__all__ = ["Capacity", "capacity"]


class Capacity(Result, kind="capacity"):
    """The highest rate of a host, and what sets it; the table has a row for each rate that was tried for a limit.

    Attributes:
        capacity: The highest rate at which no queue grows for ever, /s.
        service: Mean time in service at that rate, ns.
        all_processors: What all processors together keep up with, none of them ever idle, /s.
        busiest_server: What the stack or wired processor that sets the rate keeps up with, /s; ``None`` if all together do.
        bound_by: What sets the rate: ``"all processors"``, ``"stack 3"`` or ``"processor 3"``.
        within_limit: The highest rate at which the p99 of the delay is at most ``p99_below_ns``, /s; ``None`` if that was not
            asked for, or no rate that was tried is within.
        wall_time: How long simulating took, s.
    """

    capacity: Estimate
    service: Estimate
    all_processors: Estimate
    busiest_server: Estimate | None
    bound_by: str
    within_limit: Estimate | None
    wall_time: Estimate


def capacity(
    scenario: PacketScenario,
    *,
    policy: Policy | None = None,
    cost: Cost | None = None,
    p99_below_ns: float | None = None,
    profile: Profile | None = None,
) -> Capacity:
    """The highest rate that a host keeps up with, as ``warmcore capacity packet``. The scenario's own rate is not used.

    >>> wc.capacity(scenario, policy=Mine()).bound_by
    'processor 3'

    Args:
        scenario: The host and its traffic.
        policy, cost: Models of your own, as :func:`warmcore.simulate` takes them. A policy in Python costs some microseconds for
            each of some hundred thousand packets.
        p99_below_ns: A limit of the p99 of the delay in ns: the highest rate within it is searched for too, which takes some ten
            simulations; ``run.max_packets`` bounds the longest. Not with a model of your own.
        profile: The costs of processing, instead of those that the scenario names.

    Raises:
        ScenarioError: A field cannot be used; a model of your own returned something impossible; or there is no highest rate: in a
            closed loop, and with limited queues.
        ProfileError, TrafficError: As :func:`warmcore.simulate`.
    """
    instance(scenario, PacketScenario, "scenario", "a PacketScenario")
    models = Models.checked(policy, cost=cost)
    limit = None if p99_below_ns is None else number(p99_below_ns, "p99_below_ns", "a time above zero, ns")
    figures, trials = _native.capacity(scenario._json(), models, document_of(profile), limit)
    replaced = {"profile": None if profile is None else profile.name, "scheduling.policy": models.policy_name}
    return Capacity(scenario, figures, trials, {field: name for field, name in replaced.items() if name is not None})
