"""Two ways to process the same packets."""

from __future__ import annotations

import html
import json

from . import _native
from ._estimate import figure_of
from ._fields import differing
from ._models import Cost, Models
from ._scenarios import PacketScenario
from .errors import ScenarioError, instance
from .policy import Policy
from .profile import Profile, document_of
from .result import Estimate, Result

__all__ = ["Comparison", "compare"]


class Comparison(Result, kind="comparison"):
    """How much the mean delays of two ways to process the same packets differ; the table has one row.

    Source: common random numbers, Law 2015, §11.2.

    Attributes:
        difference: Mean delay of the scenario minus that of ``against``, ns; ``None`` if either is saturated. The half-width is
            infinite where no interval holds: with heavy-tailed arrivals or service times. ``.saturated`` says which is.
        relative: The same as a fraction of the delay of ``against``.
        runs: Runs of each of the two. Run ``i`` of both has the same packets.
        packets: Packets of each run.
        wall_time: How long simulating took, s.
    """

    #: What it was compared with.
    against: PacketScenario
    difference: Estimate | None
    relative: Estimate | None
    #: Which of the two are saturated: ``"scenario"``, ``"against"``. Empty if there is a difference.
    saturated: tuple[str, ...] = ()
    runs: int
    packets: int
    wall_time: Estimate

    def __repr__(self) -> str:
        return f"{super().__repr__()}\n{self._other()}{self._reason()}"

    def _repr_html_(self) -> str:
        return f"{super()._repr_html_()}<p>{html.escape(self._other())}<br>{html.escape(self._reason())}</p>"

    def _other(self) -> str:
        """What it was compared with, by what is different there."""
        changed = differing(self.scenario.to_dict(), self.against.to_dict())
        own = {path: name for path, name in self.replaced.items() if path.startswith("against.")}
        said = ", ".join(f"{path} = {value}" for path, value in {**changed, **own}.items())
        return "against the same scenario" + (f" with {said}" if said else "")

    def _reason(self) -> str:
        """Why there is no difference, if there is none."""
        if self.difference is not None:
            return ""
        which = " and ".join(f"`{side}`" for side in self.saturated)
        verb = "are" if len(self.saturated) > 1 else "is"
        return f"\nno difference: {which} {verb} saturated, so its queues grow for ever" if which else (
            "\nno difference: in every run of either the queues grow"
        )

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
    if found.difference is None:
        sides = (("scenario", scenario, ours), ("against", other, theirs))
        found.saturated = tuple(side for side, one, models in sides if _is_saturated(one, models, profile))
    return found


def _is_saturated(scenario: PacketScenario, models: Models, profile: Profile | None) -> bool:
    """Whether more arrives than the host keeps up with."""
    try:
        figures, _ = _native.capacity(scenario._json(), models, document_of(profile), None)
    except ScenarioError:  # It is bounded: nothing grows for ever.
        return False
    capacity = figure_of(json.loads(figures)["capacity"])
    return scenario.rate_per_s is not None and scenario.rate_per_s > float(capacity)
