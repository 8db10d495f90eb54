"""The points of a grid under models of one's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import _native
from ._models import Cost, Models
from ._native import Table
from .errors import ArgumentError, ScenarioError, instance, refused
from .policy import Policy
from .sweeping.grid import Grid
from .sweeping.progress import Progress, Watch

if TYPE_CHECKING:
    from ._models import Arrivals

__all__ = ["simulate_grid"]


def simulate_grid(
    grid: Grid,
    *,
    policy: Policy | None = None,
    arrivals: Arrivals | None = None,
    cost: Cost | None = None,
    progress: bool | Watch = True,
) -> Table:
    """Simulates every point of a grid of packets with models of your own, one after the other, into one table.

    A model in Python cannot go to threads or to other machines, so :func:`warmcore.sweep` takes none. This is for
    exploration: the rows are in memory, and lost with an exception. A study that outgrows it wants its policy in Rust.

    Args:
        grid: What to simulate; a grid of packets. Its profiles are followed.
        policy, arrivals, cost: Models of your own, as :func:`warmcore.simulate` takes them. A ``load`` is a fraction of the
            capacity of the scenario's policy, not of yours, so all policies see the same packets. Every point of a grid has a rate, to which
            the times of ``arrivals`` are scaled.
        progress: Whether to show a bar; or a function of the points done, their number, and the seconds left.

    Fields below ``traffic`` cannot be varied with ``arrivals``, which stand for all of it.

    Returns:
        The columns of a sweep: the fields that are varied, then the figures, with units and half-widths in the schema; a row for
        each point, in the order of the grid.

    Raises:
        ScenarioError: A field cannot be used, or a model of your own returned something impossible.
        SweepError: A point cannot be simulated; the message names it.
        KeyboardInterrupt: Ctrl-C.
    """
    instance(grid, Grid, "grid", "a grid, such as wc.Grid(scenario, {'seed': range(1, 11)})")
    if grid._plan.model != "packet":
        raise refused(ArgumentError, "grid", f"of the model {grid._plan.model}", "a grid of packets")
    models = Models.checked(policy, arrivals, cost)
    if arrivals is not None:
        _refuse_replaced(grid)
    rows = []
    with Progress(progress, len(grid)) as shown:
        for index in range(len(grid)):
            rows.append(_native.grid_row(grid._plan, index, models))
            shown.set(index + 1, (index + 1) / len(grid))
    return _native.grid_table(grid._plan, rows)


def _refuse_replaced(grid: Grid) -> None:
    """Refuses to vary what arrivals stand for: rows would be labelled with values that had no effect."""
    for field in grid.fields:
        if field.split(".")[0] == "traffic":
            raise refused(ScenarioError, field, "varied", "no field of `traffic` with arrivals, which stand for all of it")
