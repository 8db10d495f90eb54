"""What a sweep on Dask costs, measured on a local cluster: `make bench-sweep`.

Prints the machine and the versions; how busy two workers are in a sweep of 2,000 points, by their own times against the wall;
what a task and a row cost scheduler and client; the same sweep with SimPy at a size that it can bear, and the ratio; and the forecast
of a million points on a thousand workers with these costs.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import pathlib
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib.metadata import version
from typing import Any

import distributed
import warmcore as wc
from warmcore import _native
from warmcore.sweeping import dask, forecast

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import simpy_sweep  # noqa: E402

WORKERS = 2


@contextlib.contextmanager
def cluster() -> Iterator[Any]:
    """The client of a scheduler and two workers, each a process of its own."""
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        file = pathlib.Path(folder) / "scheduler.json"

        def start(*words: str) -> None:
            command = [sys.executable, "-m", "dask", *words, "--scheduler-file", str(file)]
            process = subprocess.Popen(command, cwd=folder, stderr=subprocess.DEVNULL)
            stack.callback(process.wait)
            stack.callback(process.terminate)

        start("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")
        start("worker", "--nworkers", str(WORKERS), "--nthreads", "1", "--no-dashboard")
        began = time.monotonic()
        while not file.exists() and time.monotonic() - began < 60:
            time.sleep(0.1)
        client = distributed.Client(scheduler_file=str(file), set_as_default=False)
        stack.callback(client.close)
        client.wait_for_workers(WORKERS, timeout=60)
        yield client


def machine() -> str:
    names = [line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")]
    return f"{len(names)} × {names[0] if names else platform.machine()}, load {os.getloadavg()[0]:.2f}"


def busy_workers(client: Any, points: int, packets: int) -> dict[str, float]:
    """A sweep of so many points, of at most so many packets each, on the cluster of `client`."""
    scenario = wc.PacketScenario(run=wc.RunLength(precision=0.002, max_packets=packets))
    grid = wc.Grid(scenario, {"scheduling.policy": ["mru", "lru"], "load": [0.3, 0.5, 0.6, 0.7], "seed": range(1, points // 8 + 1)})
    with tempfile.TemporaryDirectory() as folder:
        swept = wc.sweep(grid, client, out=f"{folder}/set", progress=True)
        simulated = int(swept.to_pandas()["packets"].sum())
        times = swept.times
    assert times is not None
    busy = [seconds / times.wall_s for seconds in times.busy_s.values()]
    return {
        "points": times.points,
        "tasks": times.tasks,
        "wall_s": times.wall_s,
        "least_busy": min(busy),
        "mean_busy": sum(busy) / WORKERS,
        "point_ms": sum(times.busy_s.values()) / times.points * 1e3,
        "packets": simulated,
        "packets_per_s": simulated / times.wall_s,
    }


class _Empty:
    """So many tasks without a point."""

    def __init__(self, tasks: int) -> None:
        self._left = tasks

    def __bool__(self) -> bool:
        return self._left > 0

    def take(self, _workers: int) -> tuple[list[int], float]:
        self._left -= 1
        return [], 0.0


def cost_of_tasks(client: Any, tasks: int) -> dict[str, float]:
    """Tasks without a point: what limits them is what a task costs."""
    grid = wc.Grid(wc.PacketScenario(rate_per_s=5_000), {"seed": [1]})
    native = _native.Plan(grid.to_toml(), checked=True)
    scheduler = _processor_time(client)
    mine = _own_time()
    began = time.perf_counter()
    done = sum(1 for _ in dask.run(client, native, _Empty(tasks), 3, 10.0))  # type: ignore[arg-type]
    wall = time.perf_counter() - began
    assert done == tasks
    return {
        "tasks": tasks,
        "tasks_per_s": tasks / wall,
        "wall_ms_each": wall / tasks * 1e3,
        "scheduler_cpu_ms": (_processor_time(client) - scheduler) / tasks * 1e3,
        "client_cpu_ms": (_own_time() - mine) / tasks * 1e3,
    }


def _own_time() -> float:
    """This process's processor time."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _processor_time(client: Any) -> float:
    """The scheduler's processor time; it has a process of its own."""
    return float(client.run_on_scheduler(lambda: sum(os.times()[:2])))


def _timed(work: Any) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def cost_of_rows(rows: int) -> dict[str, float]:
    """What keeping and writing a row costs the client, its file included."""
    scenario = wc.PacketScenario(rate_per_s=5_000, run=wc.RunLength(precision=0.9, max_packets=10_000))
    grid = wc.Grid(scenario, {"seed": range(1, rows + 1)})
    native = _native.Plan(grid.to_toml(), checked=True)
    text = native.rows([0])[0]
    with tempfile.TemporaryDirectory() as folder:
        kept = _native.DataSet(native, f"{folder}/set", "new")
        batches = [[(index, text) for index in range(begin, min(begin + 100, rows))] for begin in range(0, rows, 100)]
        spent = _timed(lambda: [kept.add(batch) for batch in batches])
        finish = _timed(kept.finish)
        size = sum(path.stat().st_size for path in pathlib.Path(folder).rglob("*") if path.is_file())
    return {"row_us": (spent + finish) / rows * 1e6, "row_bytes": len(text), "file_bytes_per_row": size / rows}


def against_simpy(client: Any, points: int, packets: int) -> dict[str, float]:
    """The same points and packets, by SimPy in as many processes and by this program on Dask."""
    scenario = wc.PacketScenario(run=wc.RunLength(precision=1e-6, max_packets=packets))
    loads, seeds = [0.3, 0.5], range(1, points // 4 + 1)
    grid = wc.Grid(scenario, {"scheduling.policy": ["mru", "lru"], "load": loads, "seed": seeds})
    with tempfile.TemporaryDirectory() as folder:
        swept = wc.sweep(grid, client, out=f"{folder}/set", progress=False)
        assert swept.times is not None
        ours, simulated = swept.times.wall_s, int(swept.to_pandas()["packets"].sum())
    all_points = [(policy, load, seed) for policy in ("mru", "lru") for load in loads for seed in seeds]
    theirs = simpy_sweep.sweep(all_points, packets, WORKERS)
    return {
        "points": len(all_points),
        "packets_each": packets,
        "simpy_s": theirs,
        "warmcore_s": ours,
        "simpy_packets_per_s": len(all_points) * packets / theirs,
        "warmcore_packets_per_s": simulated / ours,
        "ratio": theirs / ours * simulated / (len(all_points) * packets),
    }


def shown(title: str, figures: dict[str, float]) -> None:
    numbers = "  ".join(f"{name} {value:,.4g}" for name, value in figures.items())
    print(f"{title}: {numbers}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--points", type=int, default=2_000)
    parser.add_argument("--packets", type=int, default=600_000, help="the most packets of a point: some 50 ms")
    parser.add_argument("--sections", nargs="*", choices=["sweep", "tasks", "rows", "simpy"], help="only these")
    parser.add_argument("--json", type=pathlib.Path, help="also write all figures to this file")
    given = parser.parse_args()
    names = ", ".join(f"{name} {version(name)}" for name in ("distributed", "simpy", "pyarrow"))
    print(f"{machine()}; Python {platform.python_version()}, warmcore {wc.__version__}, {names}")
    found: dict[str, Any] = {}
    sections = {
        "sweep": (f"a sweep on {WORKERS} workers", lambda client: busy_workers(client, given.points, given.packets)),
        "tasks": ("tasks without a point", lambda client: cost_of_tasks(client, 2_000)),
        "rows": ("rows", lambda _client: cost_of_rows(20_000)),
        "simpy": ("beside SimPy", lambda client: against_simpy(client, 16, 200_000)),
    }
    with cluster() as client:
        for name in given.sections or sections:
            title, measure = sections[name]
            found[name] = measure(client)
            shown(title, found[name])
    if given.json:
        given.json.write_text(json.dumps(found, indent=2) + "\n")
    if {"sweep", "tasks", "rows"} <= set(found):
        planned(found)


def planned(found: dict[str, Any]) -> None:
    """Prints the forecast of a large sweep with what was measured."""
    print("the forecast with these costs:")
    options = {
        "--point-ms": found["sweep"]["point_ms"],
        "--task-ms": found["tasks"]["scheduler_cpu_ms"],
        "--client-task-ms": found["tasks"]["client_cpu_ms"],
        "--row-us": found["rows"]["row_us"],
        "--row-bytes": found["rows"]["row_bytes"],
    }
    sys.argv = [sys.argv[0], *(word for option in options.items() for word in map(str, option))]
    forecast.main()


if __name__ == "__main__":
    main()
