"""Sweeping a grid."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from typing import Any

from .. import _native
from .._document import plain
from ..errors import instance, number, whole
from . import dask
from .batches import Batcher
from .dataset import Sweep
from .engine import Done, Times
from .grid import Grid
from .progress import Progress, Watch


def sweep(
    grid: Grid,
    engine: Any = "local",
    *,
    out: str | os.PathLike[str] | None = None,
    partition_by: str | None = None,
    progress: bool | Watch = True,
    resume: bool = True,
    overwrite: bool = False,
    retries: int = 3,
    jobs: int | None = None,
    timeout: float = 10.0,
) -> Sweep:
    """Simulates every point of a grid into a data set of Parquet files.

    Points are begun longest first. The folder has the same bytes whatever the engine, the number of workers and the order in
    which they finish. Finished points are kept as they come: after Ctrl-C, a kill, or a lost scheduler, the same call goes on
    where it was.

    Args:
        grid: What to simulate.
        engine: ``"local"``, this machine; the address of a Dask scheduler, ``"dask://host:8786"`` or ``"tcp://host:8786"``; or a
            ``distributed.Client``. Its workers need this version of warmcore.
        out: The folder. By default ``sweep-`` and the beginning of the grid's checksum, below the current one.
        partition_by: A field that is varied: each of its values gets a folder ``field=value``.
        progress: Whether to show a bar; or a function of the points done, their number, and the seconds left.
        resume: Whether to go on with what the folder has of this grid. Without, such a folder is refused.
        overwrite: Whether to remove a data set that the folder has, and begin anew.
        retries: How often a task is tried again whose worker was lost.
        jobs: How many tasks to run at a time on this machine; as many as it has processors by default.
        timeout: How many seconds a scheduler may take to answer, or be gone or without workers.

    Returns:
        The finished data set.

    Raises:
        DataSetError: The folder has another grid's data set, another version's, or other files.
        SchedulerError: ``engine`` is no address; the scheduler does not answer or is gone, or a worker has another version. Finished points are kept.
        SweepError: A point cannot be simulated, or its task was lost too often. Finished points are kept.
        KeyboardInterrupt: Ctrl-C; tasks under way are cancelled, and finished points are kept.
    """
    instance(grid, Grid, "grid", "a grid, such as wc.Grid(scenario, {'seed': range(1, 11)})")
    retries = whole(retries, "retries", "a number of times, 0 for none")
    jobs = None if jobs is None else whole(jobs, "jobs", "a number of tasks from 1", least=1)
    timeout = number(timeout, "timeout", "a number of seconds", least=0.0)
    if out is not None:
        instance(out, (str, bytes, os.PathLike), "out", "the path of a folder")
    if isinstance(engine, str) and engine != "local":
        dask.address_of(engine)
    path = plain(os.fsdecode(out), "out") if out is not None else f"sweep-{grid.identity[:12]}"
    plan = grid._plan
    with contextlib.ExitStack() as stack:
        client = None
        if engine != "local":
            client, is_ours = dask.connect(engine, timeout)
            if is_ours:
                stack.callback(client.close, timeout=2)
        begin = "anew" if overwrite else "resume" if resume else "new"
        rows = _native.DataSet(plan, path, begin, partition_by)
        stack.callback(rows.close)
        shown = stack.enter_context(Progress(progress, len(plan)))
        if client is None:
            times = _here(rows, plan, jobs, shown)
        else:
            batcher = Batcher(rows.missing(plan))
            done = stack.enter_context(contextlib.closing(dask.run(client, plan, batcher, retries, timeout)))
            times = _keep(done, rows, batcher, shown)
        rows.finish()
    return Sweep(path, times)


def _here(rows: _native.DataSet, plan: _native.Plan, jobs: int | None, shown: Progress) -> Times:
    """Simulates on the threads of this machine; each point is a task."""
    began = time.monotonic()
    points, busy_s = rows.run(plan, jobs, shown.set)
    return Times(time.monotonic() - began, points, points, {"": busy_s} if points else {})


def _keep(done: Iterator[Done], rows: _native.DataSet, batcher: Batcher, shown: Progress) -> Times:
    """Adds what is done to the data set, as it comes."""
    total_s = batcher.left_s
    estimated_s = 0.0
    known = rows.known()
    times = Times()
    began = time.monotonic()
    for task in done:
        rows.add(task.rows)
        times.add(task)
        batcher.measured(task.estimated_s, task.seconds)
        known += len(task.rows)
        estimated_s += task.estimated_s
        shown.set(known, estimated_s / total_s if total_s > 0.0 else 1.0)
    times.wall_s = time.monotonic() - began
    return times
