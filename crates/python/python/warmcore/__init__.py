"""Warmcore: on which processor should this piece of work run, so that what it touches is already in its cache?

>>> import warmcore as wc
>>> scenario = wc.PacketScenario(processors=8, rate_per_s=40_000, scheduling=wc.Scheduling(policy="mru"))
>>> result = wc.simulate(scenario)
>>> print(result.delay)

======================  ============================================================================================
call                    what it does
======================  ============================================================================================
``simulate``            a scenario of any kind to its figures; with a policy, arrivals or costs of your own
``observe``             any quantile, histograms, each stream, time series, the warm-up, single events
``compare``             two ways to process the same packets: the difference, with its interval
``capacity``            the highest rate that a host keeps up with, what sets it, and the highest within a limit of the p99
``simulate_grid``       every point of a grid with models of your own, into one table
``sweep``               every point of a grid, on this machine or on Dask, into Parquet files; ``open_dataset`` reads them
``plot``                several results in one chart
``reproduce``           a published figure, simulated again
``calibrate``           the costs of this machine
``to_pandas``           a table of warmcore as a frame of pandas; ``to_polars`` of polars
======================  ============================================================================================

======================  ============================================================================================
class                   what it is
======================  ============================================================================================
``PacketScenario``      packets on processors; ``RunQueueScenario``: processes in run queues; ``ClusterScenario``: a cluster
``Grid``                a scenario, and the values of the fields that are varied
``Policy``              what a policy of your own derives from; it is shown ``Request`` and ``View``, and returns ``Run`` or ``Wait``
``Found``               what a function of costs is shown
``Profile``             what packets cost on a machine
``Result``              figures by name, each an ``Estimate``; ``Table``: columns with units, for any library that reads Arrow
``Error``               the family of exceptions; ``.field`` says what is at fault
======================  ============================================================================================

The other classes are parts of scenarios: ``help(wc.Traffic)`` says what their fields mean. Scenarios are objects that never change, with
the same fields as the TOML documents of the command line. Times are in nanoseconds, rates per second, unless a name or a unit says
otherwise.
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
from ._simulate_grid import simulate_grid
from ._tables import to_pandas, to_polars
from .errors import ArgumentError, DataSetError, Error, ProfileError, ScenarioError, SchedulerError, SweepError, TrafficError
from .plotting import plot
from .policy import Found, Policy, Request, Run, View, Wait
from .profile import Profile
from .result import ClusterResult, Estimate, PacketResult, Result, RunQueueResult
from .sweeping import Grid, Sweep, open_dataset, sweep

#: Functions, what they take and return, exceptions; then the scenarios and their parts.
__all__ = [
    "simulate",
    "observe",
    "compare",
    "capacity",
    "simulate_grid",
    "sweep",
    "open_dataset",
    "plot",
    "reproduce",
    "calibrate",
    "to_pandas",
    "to_polars",
    "Grid",
    "Policy",
    "Request",
    "View",
    "Run",
    "Wait",
    "Found",
    "Profile",
    "Result",
    "PacketResult",
    "RunQueueResult",
    "ClusterResult",
    "Estimate",
    "Observation",
    "Comparison",
    "Capacity",
    "Sweep",
    "Reproduction",
    "Table",
    "Scenario",
    "Part",
    "Document",
    "Error",
    "ArgumentError",
    "DataSetError",
    "ProfileError",
    "ScenarioError",
    "SchedulerError",
    "SweepError",
    "TrafficError",
    "__version__",
]
__all__ += _scenarios_all
