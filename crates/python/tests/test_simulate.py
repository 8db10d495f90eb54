"""Simulating, and what results hold."""

from __future__ import annotations

import math
import multiprocessing
import pathlib
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pandas
import polars
import pyarrow
import pytest
import warmcore as wc
from common import QUICK, MostRecent

EXAMPLES = pathlib.Path(__file__).parents[3] / "crates/cli/src/simulate"
POINT = wc.PacketScenario(rate_per_s=40_000, scheduling=wc.Scheduling(policy="mru"), run=wc.RunLength(precision=0.05))


def test_a_point_has_figures_with_intervals() -> None:
    result = wc.simulate(POINT)
    assert isinstance(result, wc.PacketResult) and result.scenario == POINT
    assert result.saturated is False and result.delay is not None
    low, high = result.delay.interval
    assert 0 < low < result.delay.mean < high and result.delay.unit == "ns"
    assert result.delay.mean > float(result["service"]) > 0
    assert sum((result.situations or {}).values()) == result.packets
    assert str(result.delay).endswith("µs") and "±" in str(result.delay)
    assert result.rate.half_width is None


def test_the_same_scenario_gives_the_same_bits() -> None:
    one, other = wc.simulate(POINT), wc.simulate(POINT)
    same = {name: value for name, value in one.figures.items() if name != "wall_time"}
    assert same == {name: value for name, value in other.figures.items() if name != "wall_time"}
    assert pyarrow.table(one).equals(pyarrow.table(other))
    assert wc.simulate(POINT.replace(seed=2)).delay != one.delay


def test_a_saturated_point_has_no_delay() -> None:
    result = wc.simulate(POINT.replace(rate_per_s=1e6))
    assert result.saturated is True and result.delay is None
    assert float(result.capacity) < 1e6


def test_tables_reach_other_libraries_with_units_and_half_widths() -> None:
    result = wc.simulate(POINT)
    table = pyarrow.table(result)
    delay = table.schema.field("mean_delay")
    assert delay.metadata == {b"unit": b"ns", b"half_width": b"delay_half_width"}
    assert table.schema.field("delay_half_width").metadata == {b"unit": b"ns"}
    assert table.num_rows == result.table.num_rows == 1
    assert result.delay is not None
    assert table["mean_delay"][0].as_py() == result.delay.mean == result.table.row(0)["mean_delay"]
    assert isinstance(result.to_pandas(), pandas.DataFrame)
    frame = result.to_polars()
    assert isinstance(frame, polars.DataFrame) and frame["policy"][0] == "mru"
    with pytest.raises(IndexError):
        result.table.row(1)


def test_run_queues_are_simulated() -> None:
    scenario = wc.RunQueueScenario.from_toml(EXAMPLES / "example.toml").replace(runs=2)
    result = wc.simulate(scenario)
    assert isinstance(result, wc.RunQueueResult)
    assert 0 < float(result.utilisation) <= 1 and result.utilisation.half_width is not None
    assert result.table.num_rows == len(scenario.applications)
    assert result.to_polars()["application"].to_list() == [one.name for one in scenario.applications]


def test_clusters_are_simulated() -> None:
    scenario = wc.ClusterScenario.from_toml(EXAMPLES / "cluster.toml")
    scenario = scenario.replace({"machine.nodes": 2, "machine.processors": 2})
    result = wc.simulate(scenario)
    assert isinstance(result, wc.ClusterResult) and result.cycles.mean > 0
    assert result.table.num_rows == 4
    assert float(result.time) == pytest.approx(float(result.cycles) / 400e6)


def test_figures_are_a_mapping_and_attributes() -> None:
    result = wc.simulate(POINT)
    assert list(result) == list(result.figures) and len(result) > 10
    with pytest.raises(AttributeError, match="it has delay"):
        result.dealy  # noqa: B018
    assert "delay" in dir(result) and "delay" in result._repr_html_() and "delay" in repr(result)


def test_estimates() -> None:
    known, unknown = wc.Estimate(1500.0, 20.0, "ns"), wc.Estimate(2000.0, math.inf, "ns")
    assert str(known) == "1.5 ± 0.02 µs" and str(unknown) == "2 ± unknown µs"
    assert str(wc.Estimate(3.0, None, "")) == "3"
    assert known.agrees_with(unknown) and not known.agrees_with(wc.Estimate(1600.0, None, "ns"))


def test_what_is_no_scenario_is_refused() -> None:
    with pytest.raises(TypeError, match="expected a scenario"):
        wc.simulate({"processors": 8})  # type: ignore[call-overload]
    with pytest.raises(wc.ScenarioError) as caught:
        wc.simulate(wc.PacketScenario())
    assert caught.value.field == "rate_per_s"
    with pytest.raises(wc.ProfileError, match="missing.toml"):
        wc.simulate(POINT.replace(profile="missing.toml"))
    with pytest.raises(wc.TrafficError, match="missing.pcap"):
        wc.simulate(POINT.replace({"traffic.process": {"trace": {"file": "missing.pcap"}}}))


LONG = POINT.replace({"run.precision": 1e-6, "run.max_packets": 2_000_000})


def test_other_threads_run_while_it_simulates() -> None:
    steps = 0
    done = threading.Event()

    def count() -> None:
        nonlocal steps
        while not done.is_set():
            steps += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    wc.simulate(LONG)
    done.set()
    thread.join()
    # Held through the simulation, the lock would leave a step or two.
    assert steps > 10


@pytest.mark.parametrize("kind", ["packet", "run-queue", "cluster"])
def test_ctrl_c_ends_a_simulation(kind: str) -> None:
    document = {
        "packet": LONG.replace({"run.max_packets": 10_000_000_000}).to_toml(),
        "run-queue": (EXAMPLES / "example.toml").read_text().replace("seconds = ", "seconds = 80000 # "),
        "cluster": wc.ClusterScenario(program={"name": "fft", "points": 1 << 20}).to_toml(),
    }[kind]
    program = f"""
        import time, sys
        import warmcore as wc
        scenario = wc.Scenario.from_toml({document!r})
        print("ready", flush=True)
        try:
            wc.simulate(scenario)
        except KeyboardInterrupt:
            print("interrupted", time.monotonic(), flush=True)
        else:
            print("ended", flush=True)
    """
    child = subprocess.Popen([sys.executable, "-c", textwrap.dedent(program)], stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        time.sleep(0.5)
        began = time.monotonic()
        child.send_signal(signal.SIGINT)
        word, at = child.stdout.readline().split()
        # Half a second on a quiet machine; here others may run.
        assert word == "interrupted" and float(at) - began < 5
        child.wait(timeout=10)
    finally:
        child.kill()


def test_losses_classes_and_closed_loops_are_figures() -> None:
    plain = wc.simulate(QUICK)
    assert plain.lost_fraction is None and plain.class_delays == ()
    crowded = QUICK.replace({"rate_per_s": 80_000, "processors": 2, "queues.limit": 4, "scheduling.policy": "mru"})
    lost = wc.simulate(crowded).lost_fraction
    assert lost is not None and 0.0 < lost.mean < 1.0 and lost.unit == ""
    closed = wc.simulate(QUICK.replace({"rate_per_s": None, "traffic.process": {"closed": {"think_us": 1000}}}))
    assert closed.capacity is None and closed.throughput is not None and closed.delay is not None


FORKED = {
    "simulate": lambda: wc.simulate(QUICK).delay,
    "observe": lambda: wc.observe(QUICK, quantiles=[0.5], streams=True, events=5).result.delay,
    "capacity": lambda: wc.capacity(QUICK).capacity,
    "compare": lambda: wc.compare(QUICK.replace({"run.packets": 1_000})).difference,
    "own policy": lambda: wc.simulate(QUICK, policy=MostRecent()).delay,
}


def forked(name: str) -> object:
    return FORKED[name]()


def test_a_forked_process_simulates_after_its_parent() -> None:
    here = {name: forked(name) for name in FORKED}
    with multiprocessing.get_context("fork").Pool(1) as pool:
        there = {name: pool.apply_async(forked, (name,)).get(timeout=30) for name in FORKED}
    assert here == there
