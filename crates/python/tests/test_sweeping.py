"""Sweeps on this machine and on a Dask cluster of processes: the same bytes everywhere, and nothing lost."""

from __future__ import annotations

import json
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import distributed
import pandas
import polars
import pyarrow
import pyarrow.parquet
import pytest
import warmcore as wc
from warmcore import _native
from warmcore.sweeping import batches, dask, forecast

BASE = wc.PacketScenario(run=wc.RunLength(precision=0.3, max_packets=10_000))
GRID = wc.Grid(BASE, {"scheduling.policy": ["mru", "lru"], "load": [0.2, 0.5], "seed": range(1, 51)})


@pytest.fixture(scope="module")
def cluster() -> Iterator[distributed.LocalCluster]:
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def straight(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    out = tmp_path_factory.mktemp("straight") / "set"
    swept = wc.sweep(GRID, out=out, jobs=1, progress=False)
    assert swept.times is not None and swept.times.points == len(GRID)
    return out


def files(folder: pathlib.Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_a_data_set_reaches_other_libraries_with_units(straight: pathlib.Path) -> None:
    swept = wc.open_dataset(straight)
    assert len(swept) == len(GRID) == 200 and swept.grid == GRID
    frame = swept.to_pandas()
    assert isinstance(frame, pandas.DataFrame) and list(frame.columns[:3]) == GRID.fields
    assert list(frame["seed"][:50]) == list(range(1, 51)) and frame["mean_delay"].notna().all()
    assert isinstance(swept.to_polars(), polars.DataFrame)
    table = swept.to_arrow()
    # Any reader of Parquet that knows Arrow has them too.
    of_file = pyarrow.parquet.read_schema(straight / "part-00000.parquet").field("mean_delay")
    assert of_file.metadata == {b"unit": b"ns", b"half_width": b"delay_half_width"}
    assert table.schema.field("mean_delay").metadata == {b"unit": b"ns", b"half_width": b"delay_half_width"}
    assert swept.units["arrival_rate"] == "/s"
    # The point alone gives the same figures.
    row = 3
    rate = frame["arrival_rate"][row]
    alone = wc.simulate(GRID.scenario(row).replace(rate_per_s=float(rate)))
    assert alone.delay is not None and alone.delay.mean == frame["mean_delay"][row]
    assert "200 points" in repr(swept) and "mean_delay" in swept._repr_html_()


@pytest.mark.parametrize("jobs", [2, 5])
def test_the_number_of_threads_changes_nothing(straight: pathlib.Path, tmp_path: pathlib.Path, jobs: int) -> None:
    wc.sweep(GRID, out=tmp_path / "set", jobs=jobs, progress=False)
    assert files(tmp_path / "set") == files(straight)


def test_the_order_of_completion_changes_nothing(straight: pathlib.Path, tmp_path: pathlib.Path) -> None:
    points = _native.Plan(GRID.to_toml())
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    order = list(range(len(GRID)))
    random.Random(seed).shuffle(order)
    rows = _native.DataSet(points, str(tmp_path / "set"), "new")
    for found in zip(order, points.rows(order)):
        rows.add([found])
    rows.finish()
    assert files(tmp_path / "set") == files(straight)


@pytest.mark.parametrize("workers", [1, 2])
def test_dask_gives_the_same_bytes(
    cluster: distributed.LocalCluster, straight: pathlib.Path, tmp_path: pathlib.Path, workers: int
) -> None:
    cluster.scale(workers)
    with distributed.Client(cluster, set_as_default=False) as client:
        client.wait_for_workers(workers, timeout=60)
        told: list[tuple[int, int]] = []
        swept = wc.sweep(GRID, client, out=tmp_path / "set", progress=lambda done, of, _left: told.append((done, of)))
    assert files(tmp_path / "set") == files(straight)
    assert told[-1] == (200, 200) and told == sorted(told)
    assert swept.times is not None and all(swept.times.busy_s)


def test_a_killed_worker_loses_nothing_and_changes_nothing(
    cluster: distributed.LocalCluster, straight: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    cluster.scale(2)
    with distributed.Client(cluster, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=60)
        pids = list(client.run(os.getpid).values())
        killed: list[int] = []

        def kill(done: int, _of: int, _left: float | None) -> None:
            if done < len(GRID) and not killed:
                killed.append(pids[0])
                os.kill(pids[0], signal.SIGKILL)

        wc.sweep(GRID, cluster.scheduler_address, out=tmp_path / "set", progress=kill)
    assert killed and files(tmp_path / "set") == files(straight)


def test_a_killed_client_resumes_where_it_was(straight: pathlib.Path, tmp_path: pathlib.Path) -> None:
    out = tmp_path / "set"
    (tmp_path / "grid.toml").write_text(GRID.to_toml())
    script = f"""
        import os, signal, warmcore as wc
        def watch(done, of, left):
            if done >= 40:
                os.kill(os.getpid(), signal.SIGKILL)
        wc.sweep(wc.Grid.from_toml({str(tmp_path / "grid.toml")!r}), out={str(out)!r}, jobs=1, progress=watch)
    """
    ended = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], check=False)
    assert ended.returncode == -signal.SIGKILL
    with pytest.raises(wc.DataSetError, match="of which . of 4 parts are written: resume it"):
        wc.open_dataset(out)
    swept = wc.sweep(GRID, out=out, progress=False)
    assert swept.times is not None and 0 < swept.times.points <= 160
    assert files(out) == files(straight)
    again = wc.sweep(GRID, out=out, progress=False)
    assert again.times is not None and again.times.points == 0


def test_ctrl_c_keeps_what_is_finished(tmp_path: pathlib.Path) -> None:
    def interrupt(_done: int, _of: int, _left: float | None) -> None:
        raise KeyboardInterrupt

    before = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        wc.sweep(GRID, out=tmp_path / "set", progress=interrupt, jobs=2)
    assert threading.active_count() == before
    swept = wc.sweep(GRID, out=tmp_path / "set", progress=False)
    assert swept.times is not None and 0 < swept.times.points < 200


def test_another_data_set_is_refused_and_stays(straight: pathlib.Path, tmp_path: pathlib.Path) -> None:
    small = wc.Grid(BASE.replace(rate_per_s=20_000), {"seed": [1, 2]})
    with pytest.raises(wc.DataSetError, match="the data set of another grid"):
        wc.sweep(small, out=straight, progress=False)
    with pytest.raises(wc.DataSetError, match="has a data set already"):
        wc.sweep(GRID, out=straight, resume=False, progress=False)
    with pytest.raises(wc.DataSetError, match="no _manifest.json"):
        wc.open_dataset(tmp_path)
    out = tmp_path / "set"
    wc.sweep(small, out=out, progress=False)
    manifest = out / "_manifest.json"
    written = json.loads(manifest.read_text())
    manifest.write_text(json.dumps(written | {"version": "0.0.1"}))
    with pytest.raises(wc.DataSetError, match="another version of the program: there 0.0.1"):
        wc.sweep(small, out=out, progress=False)
    manifest.write_text(json.dumps(written | {"schema": 9}))
    with pytest.raises(wc.DataSetError, match="there 9, here 1"):
        wc.open_dataset(out)
    manifest.write_text(json.dumps(written))
    part = out / "part-00000.parquet"
    part.write_bytes(part.read_bytes()[:-1])
    with pytest.raises(wc.DataSetError, match="is damaged"):
        wc.open_dataset(out)
    assert len(wc.sweep(small, out=out, overwrite=True, progress=False)) == 2


def test_a_partition_has_a_folder_for_each_value(tmp_path: pathlib.Path) -> None:
    grid = wc.Grid(BASE.replace(rate_per_s=20_000), {"seed": [1, 2], "traffic.streams": [8, 16]})
    swept = wc.sweep(grid, out=tmp_path / "set", partition_by="traffic.streams", progress=False)
    assert {path.name for path in swept.path.iterdir() if path.is_dir()} == {"traffic.streams=8", "traffic.streams=16"}
    table = swept.to_arrow()
    assert table["traffic.streams"].to_pylist() == [8, 8, 16, 16] and table["seed"].to_pylist() == [1, 2, 1, 2]
    assert table.schema.field("traffic.streams").type == pyarrow.int64()
    # As the book says that polars reads it.
    read = polars.read_parquet(str(swept.path / "**/*.parquet"), hive_partitioning=True)
    assert sorted(read["traffic.streams"]) == [8, 8, 16, 16] and sorted(read["seed"]) == [1, 1, 2, 2]
    with pytest.raises(wc.SweepError, match="`processors` cannot divide the data set"):
        wc.sweep(grid, out=tmp_path / "other", partition_by="processors", progress=False)


def test_what_is_wrong_with_a_grid_names_field_and_value() -> None:
    with pytest.raises(wc.ScenarioError, match="did you mean `traffic.streams`") as error:
        wc.Grid(BASE, {"traffic.strems": [8]})
    assert error.value.field == "traffic.strems"
    with pytest.raises(wc.ScenarioError, match='`scheduling.policy` is "mruu", expected one of mru, ') as error:
        wc.Grid(BASE.replace(rate_per_s=1e4), {"scheduling.policy": ["mru", "mruu"]})
    assert error.value.found == '"mruu"'
    with pytest.raises(wc.ScenarioError, match=r"`processors` is 0.*at the point seed = 1, processors = 0"):
        wc.Grid(BASE.replace(rate_per_s=1e4), {"seed": [1], "processors": [8, 0]})
    with pytest.raises(wc.ScenarioError, match="points, expected at most 10000000"):
        wc.Grid(BASE, {"seed": range(5000), "load": [0.1 + step / 1e4 for step in range(5000)]})
    with pytest.raises(wc.ScenarioError, match="twice"):
        wc.Grid(BASE.replace(rate_per_s=1e4), {"seed": [1, 1]})


def test_a_sweep_does_not_end_later_ones_of_its_grid(tmp_path: pathlib.Path) -> None:
    grid = wc.Grid(BASE.replace(rate_per_s=2e4), {"seed": range(1, 201)})

    def stop(_done: int, _of: int, _left: float | None) -> None:
        raise LookupError("no more")

    with pytest.raises(LookupError, match="no more"):
        wc.sweep(grid, out=tmp_path / "set", progress=stop)
    swept = wc.sweep(grid, out=tmp_path / "set", progress=False)
    assert swept.times is not None and len(swept) == 200
    assert swept.times.points == swept.times.tasks > 0 and 0.0 < sum(swept.times.busy_s.values())


def test_fields_that_vary_together_and_every_model() -> None:
    grid = wc.Grid(BASE.replace(rate_per_s=1e4), {("processors", "traffic.streams"): [(4, 8), (8, 64)], "seed": [1, 2]})
    assert len(grid) == 4 and grid.point(2) == "processors = 8, traffic.streams = 64, seed = 1"
    scenario = grid.scenario(-1)
    assert isinstance(scenario, wc.PacketScenario) and (scenario.processors, scenario.seed) == (8, 2)
    cluster = wc.ClusterScenario(schema=1, machine={"nodes": 2, "processors": 1}, microbenchmark={"name": "remote-read"})
    assert len(wc.Grid(cluster, {"machine.network_cycles": [100, 200]})) == 2


def test_a_scheduler_that_does_not_answer_is_an_error_within_seconds(tmp_path: pathlib.Path) -> None:
    began = time.monotonic()
    with pytest.raises(wc.SchedulerError, match="127.0.0.1:1 does not answer within 1 s") as error:
        wc.sweep(GRID, "dask://127.0.0.1:1", out=tmp_path / "set", timeout=1)
    assert time.monotonic() - began < 15 and error.value.field == "engine"
    assert not (tmp_path / "set").exists()


def test_a_scheduler_that_says_nothing_is_an_error(tmp_path: pathlib.Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as mute, pytest.raises(wc.SchedulerError, match="does not answer"):
        wc.sweep(GRID, f"dask://127.0.0.1:{mute.getsockname()[1]}", out=tmp_path / "set", timeout=0.5)


@pytest.mark.parametrize(
    ("address", "what"), [("dusk", "no scheme"), ("tcp://127.0.0.1", "no port"), ("htp://127.0.0.1:1", "scheme is `htp`")]
)
def test_an_address_that_is_none_is_named_before_anything_runs(address: str, what: str, tmp_path: pathlib.Path) -> None:
    with pytest.raises(wc.SchedulerError, match=what) as error:
        wc.sweep(GRID, address, out=tmp_path / "set", timeout=600)
    assert error.value.field == "engine" and "answer" not in str(error.value) and '"local"' in str(error.value)
    assert not (tmp_path / "set").exists()


def test_what_is_no_grid_is_refused_with_the_field_that_is_varied() -> None:
    wrong: list[tuple[Any, Any, str]] = [
        (None, {"seed": [1]}, "scenario"),
        ({}, [("seed", [1])], "axes"),
        ({}, {5: [1]}, "axes"),
        ({}, {(): [1]}, "axes"),
        ({}, {"": [1]}, "axes"),
        ({}, {"seed": 5}, "seed"),
        ({}, {"seed": {1, 2}}, "seed"),
        ({}, {"seed": []}, "seed"),
        ({}, {"seed": [None]}, "seed"),
        ({}, {"scheduling.policy": "mru"}, "scheduling.policy"),
        ({}, {("seed", "processors"): [1]}, "seed, processors"),
        ({}, {("seed", "processors"): [(1, 2, 3)]}, "seed, processors"),
        ({"rate_per_s": 1e4}, {"seed": [2**63]}, "seed"),
        ({"rate_per_s": 1e4}, {"seed": [2**64]}, "seed"),
        ({"rate_per_s": 1e4, "seed": 2**63}, {"processors": [4]}, "seed"),
        ({"rate_per_s": 1e4, "traffic": {"streams": 2**63}}, {"processors": [4]}, "traffic.streams"),
        ({"rate_per_s": 1e4}, {"traffic.streams": [4, 8], "traffic": [{"batch": {"mean": 2}}]}, "traffic"),
    ]
    for scenario, axes, field in wrong:
        with pytest.raises(wc.Error) as error:
            wc.Grid(scenario, axes)
        said = str(error.value)
        assert error.value.field == field and "grid.toml" not in said and "axes.0" not in said, said


def interrupted(script: str, *arguments: str, after_s: float, within_s: float) -> str:
    """What `script` prints after its first line, if Ctrl-C comes this long after that. It must end in time, and by that."""
    command = [sys.executable, "-c", textwrap.dedent(script), *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        try:
            assert running.stdout is not None and running.stderr is not None
            running.stdout.readline()
            time.sleep(after_s)
            running.send_signal(signal.SIGINT)
            assert running.wait(timeout=within_s) != 0 and "KeyboardInterrupt" in running.stderr.read()
            return running.stdout.read()
        finally:
            running.kill()


def test_building_a_large_grid_is_interrupted_within_a_second() -> None:
    script = """
        import warmcore as wc
        wc.Grid(wc.PacketScenario(), {"load": [0.5], "seed": [1]})
        print("begun", flush=True)
        wc.Grid(wc.PacketScenario(), {"load": [0.1 + step / 1e4 for step in range(1000)], "seed": range(1, 1001)})
        print("built", flush=True)
    """
    # Some seconds for a busy machine; the checks take longer.
    assert interrupted(script, after_s=0.5, within_s=5.0) == ""


def test_a_data_set_that_was_changed_names_the_file(straight: pathlib.Path, tmp_path: pathlib.Path) -> None:
    def changed(file: str, change: Callable[[pathlib.Path], None]) -> str:
        out = tmp_path / "set"
        shutil.rmtree(out, ignore_errors=True)
        shutil.copytree(straight, out)
        change(out)
        with pytest.raises(wc.DataSetError, match=file) as error:
            wc.open_dataset(out)
        return str(error.value)

    def manifest(**values: Any) -> Callable[[pathlib.Path], None]:
        def change(out: pathlib.Path) -> None:
            path = out / "_manifest.json"
            path.write_text(json.dumps(json.loads(path.read_text()) | values))

        return change

    written = json.loads((straight / "_manifest.json").read_text())
    parts, columns = written["parts"], written["columns"]
    assert "twice" in changed("_manifest.json", manifest(parts=[parts[0], *parts[:-1]]))
    assert "0 rows, expected 200" in changed("_manifest.json", manifest(parts=[]))
    assert "expected 199" in changed("_manifest.json", manifest(rows=199))
    rows = [parts[0] | {"rows": 63}, parts[1] | {"rows": 65}, *parts[2:]]
    assert "64 rows, the manifest says 63" in changed("part-00000.parquet", manifest(parts=rows))
    other = [columns[0] | {"name": "policy"}, *columns[1:]]
    assert "the manifest says `policy`" in changed("part-00000.parquet", manifest(columns=other))
    more = changed("more.parquet", lambda out: (out / "more.parquet").write_bytes((out / "part-00000.parquet").read_bytes()) and None)
    assert "does not list it" in more
    toml = GRID.to_toml().replace("0.5", "0.6")
    assert "checksum" in changed("_grid.toml", lambda out: (out / "_grid.toml").write_text(toml) and None)


def test_rows_of_run_queues_and_clusters_have_the_names_of_simulate(tmp_path: pathlib.Path) -> None:
    application = {"name": "a", "processes": 3, "work_ms": 500.0, "bursts": {"tail_ms": 5.0}, "ends": {"reschedule": 1.0}}
    run_queue = wc.RunQueueScenario(runs=2, applications=[application])
    cluster = wc.ClusterScenario(machine={"nodes": 2, "processors": 1}, microbenchmark={"name": "remote-read"})
    grids = {"run_queue": (run_queue, {"seed": [1, 2]}), "cluster": (cluster, {"machine.network_cycles": [100, 200]})}
    #: What a run of a cluster has under no name in ``simulate``.
    only_rows = {"cost", "handlers", "handler_wait"}
    for name, (scenario, axes) in grids.items():
        grid = wc.Grid(scenario, axes)
        swept = wc.sweep(grid, out=tmp_path / name, progress=False)
        alone = wc.simulate(grid.scenario(0))
        row = swept.to_arrow().to_pylist()[0]
        shared = [column for column in row if column not in {*axes, *only_rows} and not column.endswith("_half_width")]
        assert len(shared) >= 5 and set(shared) <= set(alone.figures), (shared, list(alone.figures))
        for column in shared:
            figure = alone[column]
            if isinstance(figure, wc.Estimate):
                assert figure.mean == pytest.approx(row[column]) and figure.unit == swept.units.get(column, ""), column


def test_a_sweep_is_drawn_with_units_and_half_widths(straight: pathlib.Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    swept = wc.open_dataset(straight)
    axes = swept.plot("load", by="scheduling.policy").axes[0]
    assert axes.get_xlabel() == "load" and axes.get_ylabel() == "mean_delay"
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["mru", "lru"]
    # A mark for each seed, each with its bar, in seconds.
    drawn = axes.containers[0]
    assert len(drawn.lines[0].get_xdata()) == 100 and drawn.has_yerr and drawn.lines[0].get_linestyle() == "None"
    rows = swept.to_arrow().to_pylist()
    assert drawn.lines[0].get_ydata()[0] == pytest.approx(rows[0]["mean_delay"] * 1e-9)
    named = swept.plot("scheduling.policy", "utilisation").axes[0]
    assert [label.get_text() for label in named.get_xticklabels()] == ["mru", "lru"]
    for x, y, by, what in (
        ("laod", "mean_delay", None, "the nearest is `load`"),
        ("load", "mean_dealy", None, "the nearest is `mean_delay`"),
        ("load", "mean_delay", "scheduling.polcy", "the nearest is `scheduling.policy`"),
        ("load", "scheduling.policy", None, "expected a column of numbers"),
    ):
        with pytest.raises(wc.Error, match=what):
            swept.plot(x, y, by=by)


def test_a_scheduler_that_dies_is_an_error_and_nothing_is_lost(straight: pathlib.Path, tmp_path: pathlib.Path) -> None:
    script = """
        import distributed, time
        if __name__ == "__main__":
            cluster = distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None,
                                               protocol="tcp")
            print(cluster.scheduler_address, flush=True)
            time.sleep(300)
    """
    (tmp_path / "serve.py").write_text(textwrap.dedent(script))
    with subprocess.Popen([sys.executable, str(tmp_path / "serve.py")], stdout=subprocess.PIPE, text=True) as served:
        try:
            assert served.stdout is not None
            address = served.stdout.readline().strip()

            def kill(_done: int, _of: int, _left: float | None) -> None:
                served.kill()

            began = time.monotonic()
            with pytest.raises(wc.SchedulerError, match="finished points are kept"):
                wc.sweep(GRID, address, out=tmp_path / "set", progress=kill, timeout=2)
            assert time.monotonic() - began < 30
        finally:
            served.kill()
    swept = wc.sweep(GRID, out=tmp_path / "set", progress=False)
    assert swept.times is not None and 0 < swept.times.points < 200
    assert files(tmp_path / "set") == files(straight)


def test_workers_of_another_version_are_refused(
    cluster: distributed.LocalCluster, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask, "VERSION", "0.0.0")
    with pytest.raises(wc.SchedulerError, match=r"has warmcore .*, expected 0\.0\.0"):
        wc.sweep(GRID, cluster.scheduler_address, out=tmp_path / "set", progress=False)


def test_the_command_of_the_package_sweeps(straight: pathlib.Path, tmp_path: pathlib.Path) -> None:
    command = [sys.executable, "-m", "warmcore.sweeping", "-", "--out", str(tmp_path / "set"), "--json"]
    done = subprocess.run(command, input=GRID.to_toml(), capture_output=True, text=True, check=True)
    summary: dict[str, Any] = json.loads(done.stdout)
    assert (summary["points"], summary["grid"]) == (200, GRID.identity)
    assert files(tmp_path / "set") == files(straight)
    refused = subprocess.run(command, input=GRID.to_toml(), capture_output=True, text=True, check=False)
    assert refused.returncode == 2 and "has a data set already: resume it (--resume), begin anew (--force)" in refused.stderr
    for rest, what in (
        (["--dask", "nonsense"], "--dask: it is `nonsense`, which has no scheme"),
        (["--retries", "-1"], "--retries is -1"),
        (["--dask-timeout", "nan"], "--dask-timeout is nan"),
        (["--jobs", "0"], "--jobs is 0"),
    ):
        wrong = subprocess.run([*command, *rest], input=GRID.to_toml(), capture_output=True, text=True, check=False)
        assert wrong.returncode == 2 and what in wrong.stderr, wrong.stderr


def test_tasks_are_as_long_as_scheduler_and_end_allow() -> None:
    # The scheduler deals with 1000 workers' tasks in a quarter of its time.
    assert batches.task_seconds(50_000.0, 1000) == pytest.approx(8.0)
    assert batches.task_seconds(5_000_000.0, 1000) == pytest.approx(32.0)
    # Little work is still several tasks for each worker.
    assert batches.task_seconds(1.6, 2) == pytest.approx(0.2)
    points = [(index, 0.01) for index in range(1000)]
    batcher = batches.Batcher(points)
    first, estimated = batcher.take(2)
    assert len(first) == pytest.approx(20, abs=1) and estimated == pytest.approx(len(first) * 0.01)
    # They take twice as long as estimated: tasks have half as many points.
    batcher.measured(estimated, 2 * estimated)
    assert len(batcher.take(2)[0]) == pytest.approx(len(first) / 2, abs=1)
    taken = set(first)
    while batcher:
        taken.update(batcher.take(2)[0])
    assert len(taken) == pytest.approx(990, abs=2)


def test_the_forecast_of_a_large_sweep_is_repeatable_and_keeps_its_workers_busy() -> None:
    costs = forecast.Costs()
    points = forecast.points_of(100_000, costs)
    expected = forecast.simulate(points, 100, costs)
    assert expected == forecast.simulate(points, 100, costs)
    assert expected.workers_busy > 0.9 and expected.scheduler_busy < 0.3 and expected.lost < 20
    # Tasks as short as points load the scheduler instead of the workers.
    short = forecast.simulate(points[:20_000], 1000, costs, task_s=0.001)
    assert short.scheduler_busy > 0.8 and short.workers_busy < 0.2
    # Nothing is lost where nobody dies.
    assert forecast.simulate(points[:5_000], 10, forecast.Costs(life_s=0.0)).lost == 0


def test_ctrl_c_ends_points_that_are_under_way(tmp_path: pathlib.Path) -> None:
    script = """
        import sys, warmcore as wc
        grid = wc.Grid(wc.PacketScenario(rate_per_s=40_000, run=wc.RunLength(precision=1e-6, max_packets=2_000_000_000)), {"seed": [1, 2]})
        print("begun", flush=True)
        wc.sweep(grid, out=sys.argv[1], progress=False)
    """
    interrupted(script, str(tmp_path / "set"), after_s=1.0, within_s=20.0)
