"""Warmcore: on which processor should this piece of work run, so that what it touches is already in its cache?

>>> import warmcore as wc
>>> scenario = wc.PacketScenario(processors=8, rate_per_s=40_000, scheduling=wc.Scheduling(policy="mru"))
>>> result = wc.simulate(scenario)
>>> print(result.delay)

Scenarios are objects that never change, with the same fields as the TOML documents of the command line; results are figures
with intervals, and Arrow tables. Times are in nanoseconds, rates per second, unless a name or a unit says otherwise.
"""

from __future__ import annotations

from ._calibrate import calibrate
from ._capacity import Capacity, capacity
from ._compare import Comparison, compare
from ._document import Document, Part, Scenario
from ._native import VERSION as __version__
from ._native import Table
from ._observe import Observation, observe
from ._reproduce import Reproduction, reproduce
from ._scenarios import *  # noqa: F403
from ._scenarios import __all__ as _scenarios_all
from ._simulate import simulate
from .errors import ArgumentError, DataSetError, Error, ProfileError, ScenarioError, SchedulerError, SweepError, TrafficError
from .plotting import plot
from .policy import Found, Policy, Request, Run, View, Wait
from .profile import Profile
from .result import ClusterResult, Estimate, PacketResult, Result, RunQueueResult, to_pandas, to_polars
from .sweeping import Grid, Sweep, open_dataset, sweep

__all__ = [
    "ArgumentError",
    "Capacity",
    "ClusterResult",
    "Comparison",
    "DataSetError",
    "Document",
    "Error",
    "Estimate",
    "Found",
    "Grid",
    "Observation",
    "PacketResult",
    "Part",
    "Policy",
    "Profile",
    "ProfileError",
    "Reproduction",
    "Request",
    "Result",
    "Run",
    "RunQueueResult",
    "Scenario",
    "ScenarioError",
    "SchedulerError",
    "Sweep",
    "SweepError",
    "Table",
    "TrafficError",
    "View",
    "Wait",
    "__version__",
    "calibrate",
    "capacity",
    "compare",
    "observe",
    "open_dataset",
    "plot",
    "reproduce",
    "simulate",
    "sweep",
    "to_pandas",
    "to_polars",
]
__all__ += _scenarios_all
