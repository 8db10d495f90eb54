"""Simulating a scenario."""

from __future__ import annotations

from typing import TYPE_CHECKING, overload

from . import _native
from ._document import Scenario
from .result import ClusterResult, PacketResult, Result, RunQueueResult, result_of

if TYPE_CHECKING:
    from ._scenarios import ClusterScenario, PacketScenario, RunQueueScenario


@overload
def simulate(scenario: PacketScenario) -> PacketResult: ...
@overload
def simulate(scenario: RunQueueScenario) -> RunQueueResult: ...
@overload
def simulate(scenario: ClusterScenario) -> ClusterResult: ...
@overload
def simulate(scenario: Scenario) -> Result: ...
def simulate(scenario: Scenario) -> Result:
    """Simulates a scenario: packets on processors, processes in run queues, or a cluster.

    The same scenario gives the same figures, bit by bit, on any machine and any number of threads. Other threads of
    Python run meanwhile; Ctrl-C ends it within a tenth of a second.

    Args:
        scenario: What to simulate.

    Returns:
        Figures with the half-widths of their 95% intervals, and an Arrow table.

    Raises:
        ScenarioError: A field cannot be used; ``error.field`` names it.
        ProfileError: The profile lacks costs that the scenario needs.
        TrafficError: The traffic cannot be generated, or its capture not be read.
    """
    if not isinstance(scenario, Scenario):
        raise TypeError(f"expected a scenario, such as wc.PacketScenario(rate_per_s=20_000), not {type(scenario).__name__}")
    figures, table = _native.simulate(scenario.kind, scenario._json())
    return result_of(scenario, figures, table)
