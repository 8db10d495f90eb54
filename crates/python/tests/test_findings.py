"""What may be given wrongly is refused with its field; results show, cross processes and say where they come from."""

from __future__ import annotations

import copy
import inspect
import math
import multiprocessing
import operator
import pickle
import signal
import socket
import subprocess
import sys
import textwrap

import numpy as np
import pytest
import warmcore as wc

POINT = wc.PacketScenario(
    rate_per_s=15_000, traffic=wc.Traffic(streams=4), run=wc.RunLength(precision=0.05, max_packets=20_000)
)


class MostRecent(wc.Policy):
    def place(self, request: wc.Request, view: wc.View) -> wc.Run | wc.Wait:
        return wc.Wait(request.home) if view.most_recent is None else wc.Run(view.most_recent)


def test_a_table_shows_itself_and_becomes_a_frame() -> None:
    streams = wc.observe(POINT, streams=True)["streams"]
    assert len(streams.to_pandas()) == len(streams.to_polars()) == 4
    assert "4 rows" in repr(streams) and "(ns)" in repr(streams)
    assert streams._repr_html_().count("<tr>") == 5
    assert wc.simulate(POINT).table.column_names[0] in repr(wc.simulate(POINT).table)


def test_the_share_slower_than_a_limit_is_said() -> None:
    seen = wc.observe(POINT, slower_than_ns=0.0)
    assert seen.slower is not None and seen.slower.mean == 1.0 and list(seen) == ["slower"]
    middle = wc.simulate(POINT).p50
    assert middle is not None
    half = wc.observe(POINT, slower_than_ns=middle.mean).slower
    assert half is not None and half.half_width is not None and half.mean == pytest.approx(0.5, abs=0.05)
    assert wc.observe(POINT).slower is None


def test_results_and_tables_cross_processes() -> None:
    result = wc.simulate(POINT)
    seen = wc.observe(POINT, streams=True, quantiles=[0.5])
    for copied in (pickle.loads(pickle.dumps(result)), copy.deepcopy(result)):
        assert copied.figures == result.figures and copied.table == result.table and copied.scenario == POINT
        assert copied.table.units == result.table.units
    restored = pickle.loads(pickle.dumps(seen))
    assert restored["streams"] == seen["streams"] and restored.result.delay == seen.result.delay
    assert restored["streams"].row(3) == seen["streams"].row(3)
    assert pickle.loads(pickle.dumps([wc.Run(3), wc.Wait(4)])) == [wc.Run(3), wc.Wait(4)]


def test_what_stood_for_profile_and_policy_is_said() -> None:
    profile = wc.Profile.sgi_challenge_xl()
    renamed = wc.Profile(profile._document.replace(profile.name, "mine"))
    result = wc.simulate(POINT, profile=renamed, policy=MostRecent())
    row = result.table.row(0)
    assert (row["profile"], row["policy"]) == ("mine", "MostRecent")
    assert result.replaced == {"profile": "mine", "scheduling.policy": "MostRecent"}
    assert "scheduling.policy = MostRecent" in repr(result) and "MostRecent" in result._repr_html_()
    figure = wc.plot([result, wc.simulate(POINT)], by="scheduling.policy")
    legend = figure.axes[0].get_legend()
    assert legend is not None
    labels = {text.get_text() for text in legend.get_texts()}
    assert labels == {"MostRecent", POINT.scheduling.policy}
    assert wc.simulate(POINT, profile=renamed).table.row(0)["profile"] == "mine"
    assert wc.observe(POINT, profile=renamed).result.table.row(0)["profile"] == "mine"


def test_losses_classes_and_closed_loops_are_figures() -> None:
    plain = wc.simulate(POINT)
    assert plain.lost_fraction is None and plain.class_delays == ()
    crowded = POINT.replace({"rate_per_s": 80_000, "processors": 2, "queues.limit": 4, "scheduling.policy": "mru"})
    lost = wc.simulate(crowded).lost_fraction
    assert lost is not None and 0.0 < lost.mean < 1.0 and lost.unit == ""
    closed = wc.simulate(POINT.replace({"rate_per_s": None, "traffic.process": {"closed": {"think_us": 1000}}}))
    assert closed.capacity is None and closed.throughput is not None and closed.delay is not None


def test_the_highest_rate() -> None:
    found = wc.capacity(POINT)
    assert found.capacity.unit == "/s" and found.capacity.mean > 15_000 and found.within_limit is None
    assert found.bound_by and len(found.table) == 0
    same = wc.simulate(POINT).capacity
    assert same is not None and same.mean == pytest.approx(found.capacity.mean, rel=0.05)
    with pytest.raises(wc.ScenarioError) as caught:
        wc.capacity(POINT, p99_below_ns=-1.0)
    assert caught.value.field == "p99_below_ns"
    with pytest.raises(wc.ScenarioError, match="closed"):
        wc.capacity(POINT.replace({"rate_per_s": None, "traffic.process": {"closed": {"think_us": 1000}}}))


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"slower_than_ns": float("nan")}, "slower_than_ns"),
        ({"slower_than_ns": -1.0}, "slower_than_ns"),
        ({"window_ns": float("inf")}, "window_ns"),
        ({"window_ns": 0.0}, "window_ns"),
        ({"window_ns": "1"}, "window_ns"),
        ({"quantiles": ["x"]}, "quantiles"),
        ({"quantiles": 0.5}, "quantiles"),
        ({"quantiles": [float("nan")]}, "quantiles"),
        ({"events": -1}, "events"),
        ({"events": 1.5}, "events"),
        ({"profile": "x"}, "profile"),
    ],
)
def test_observations_are_refused_by_their_arguments(given: dict[str, object], field: str) -> None:
    with pytest.raises(wc.Error) as caught:
        wc.observe(POINT, **given)  # type: ignore[arg-type]
    assert caught.value.field == field


def test_arguments_of_other_types_are_errors_of_both_kinds() -> None:
    calls = [
        ("profile", lambda: wc.simulate(POINT, profile="x")),  # type: ignore[call-overload]
        ("cost", lambda: wc.simulate(POINT, cost=3)),  # type: ignore[call-overload]
        ("policy", lambda: wc.simulate(POINT, policy=3)),  # type: ignore[call-overload]
        ("scenario", lambda: wc.simulate(3)),  # type: ignore[call-overload]
        ("scenario", lambda: wc.observe(3)),  # type: ignore[arg-type]
        ("path", lambda: wc.Profile.load(3)),  # type: ignore[arg-type]
        ("source", lambda: wc.PacketScenario.from_toml(3)),  # type: ignore[arg-type]
        ("1", lambda: POINT.replace({1: 1})),  # type: ignore[dict-item]
        ("grid", lambda: wc.sweep(POINT)),  # type: ignore[arg-type]
        ("axes", lambda: wc.Grid(POINT, [1])),  # type: ignore[arg-type]
        ("scenario", lambda: wc.Grid(None, {})),  # type: ignore[arg-type]
        ("seed", lambda: wc.Grid(POINT, {"seed": 1})),  # type: ignore[dict-item]
    ]
    for field, call in calls:
        with pytest.raises(wc.ArgumentError) as caught:
            call()
        assert caught.value.field == field and isinstance(caught.value, TypeError) and isinstance(caught.value, wc.Error)


def test_values_that_cannot_be_are_refused_with_their_field(tmp_path: object) -> None:
    grid = wc.Grid(POINT, {"seed": [1]})
    calls = [
        ("speeds.99", lambda: POINT.replace({"processors": 2, "speeds": [1.0, 2.0]}).replace({"speeds.99": 1.0})),
        ("speeds.x", lambda: POINT.replace({"processors": 2, "speeds": [1.0, 2.0]}).replace({"speeds.x": 1.0})),
        ("profile", lambda: wc.PacketScenario(profile="\udcff")),
        ("source", lambda: wc.PacketScenario.from_toml("a = '\udcff'")),
        ("cpu", lambda: wc.Run(-1)),
        ("cpu", lambda: wc.Wait("x")),  # type: ignore[arg-type]
        ("jobs", lambda: wc.sweep(grid, out=str(tmp_path), jobs=-1)),
        ("timeout", lambda: wc.sweep(grid, out=str(tmp_path), timeout=float("nan"))),
        ("out", lambda: wc.sweep(grid, out="\udcff")),
        ("model", lambda: wc.Grid({"processors": 2}, {"seed": [1]}, model="x")),
        ("seed, processors", lambda: wc.Grid(POINT, {("seed", "processors"): [1]})),
    ]
    for field, call in calls:
        with pytest.raises(wc.Error) as caught:
            call()
        assert caught.value.field == field
    assert wc.Run(np.int64(3)) == wc.Run(3)


@pytest.mark.parametrize("answer", [3, None, "cpu", np.int64(1)])
def test_a_policy_that_returns_nonsense_is_refused(answer: object) -> None:
    class Wrong(wc.Policy):
        def place(self, request: wc.Request, view: wc.View) -> wc.Run | wc.Wait:
            return answer  # type: ignore[return-value]

    with pytest.raises(wc.ScenarioError, match=r"expected wc.Run\(cpu\) or wc.Wait\(cpu\)") as caught:
        wc.simulate(POINT, policy=Wrong())
    assert caught.value.field == "policy.place()"


@pytest.mark.parametrize("cost", [0, 0.5, -1.0, 1e10, 1e300, float("inf"), float("nan"), None, "1"])
def test_costs_that_cannot_be_are_refused(cost: object) -> None:
    with pytest.raises(wc.ScenarioError, match="from 1 to 1e9 ns") as caught:
        wc.simulate(POINT, cost=lambda found: cost)  # type: ignore[arg-type, return-value]
    assert caught.value.field == "cost()"


def test_costs_of_numpy_are_numbers_and_a_length_that_is_given_is_kept() -> None:
    result = wc.simulate(POINT.replace({"run.packets": 5_000}), cost=lambda found: np.float64(20_000.0))
    assert result.service is not None and result.service.mean == pytest.approx(20_000.0)
    assert result.ended == "fixed-length" and result.packets == 5_000


def test_arrays_give_no_intervals_and_masked_ones_are_refused() -> None:
    times, streams = np.arange(500) * 1e5, np.zeros(500, dtype=int)
    result = wc.simulate(POINT.replace(rate_per_s=None), arrivals=(times, streams), policy=MostRecent())
    assert result.delay is not None and result.delay.half_width is None
    with pytest.raises(wc.ScenarioError, match="masked"):
        wc.simulate(POINT, arrivals=(np.ma.masked_less(times, 10), streams))


def test_near_capacity_costs_of_ones_own_give_no_interval_of_the_delay() -> None:
    result = wc.simulate(
        POINT.replace({"processors": 1, "rate_per_s": 9_500, "run.precision": 0.001, "scheduling.policy": "mru"}),
        cost=lambda found: 100_000.0,
    )
    assert result.ended == "near-capacity" and result.delay is not None and result.service is not None
    assert result.delay.half_width == math.inf and result.service.half_width != math.inf


def test_times_of_another_kind_are_refused() -> None:
    times = np.arange(5).astype("timedelta64[us]")
    with pytest.raises(wc.ScenarioError, match="numbers of nanoseconds") as caught:
        wc.simulate(POINT, arrivals=(times, np.zeros(5, dtype=int)))
    assert caught.value.field == "arrivals.times"


def test_ctrl_c_ends_costs_that_run_in_c() -> None:
    program = """
        import operator, warmcore as wc
        print("ready", flush=True)
        try:
            wc.simulate(wc.PacketScenario(rate_per_s=10_000, run=wc.RunLength(precision=1e-6)), cost=operator.attrgetter("usual"))
        except KeyboardInterrupt:
            print("interrupted", flush=True)
    """
    child = subprocess.Popen([sys.executable, "-c", textwrap.dedent(program)], stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout is not None and child.stdout.readline() == "ready\n"
        with pytest.raises(subprocess.TimeoutExpired):
            child.wait(timeout=0.3)
        child.send_signal(signal.SIGINT)
        assert child.communicate(timeout=10)[0] == "interrupted\n"
    finally:
        child.kill()
    assert operator.attrgetter("usual")


def test_tables_within_a_scenario_never_change() -> None:
    scenario = wc.PacketScenario(traffic=wc.Traffic(popularity={"zipf": 1.0}))
    popularity = scenario.traffic.popularity
    assert popularity == {"zipf": 1.0} and repr(popularity) == "{'zipf': 1.0}"
    with pytest.raises(AttributeError, match="replace"):
        popularity.update(zipf=5.0)  # type: ignore[union-attr, attr-defined]
    with pytest.raises(AttributeError, match="replace"):
        popularity["zipf"] = 5.0  # type: ignore[index]
    assert scenario.replace() == scenario and copy.deepcopy(popularity) == pickle.loads(pickle.dumps(popularity)) == popularity
    assert wc.PacketScenario(traffic=wc.Traffic(popularity=popularity)) == scenario


def test_help_says_what_a_scenario_is_and_its_defaults() -> None:
    text = inspect.getdoc(wc.PacketScenario) or ""
    assert text.startswith("Packets on the processors of one host") and "processors (default 8)" in text
    signature = str(inspect.signature(wc.PacketScenario))
    assert "processors: 'int' = 8" in signature and "scheduling: 'Scheduling' = Scheduling()" in signature
    assert all("document of one" not in (inspect.getdoc(kind) or "") for kind in (wc.RunQueueScenario, wc.ClusterScenario))


def test_a_forked_process_simulates_after_its_parent() -> None:
    wc.simulate(POINT)
    with multiprocessing.get_context("fork").Pool(1) as pool:
        result = pool.apply_async(wc.simulate, (POINT,)).get(timeout=30)
    assert result.delay == wc.simulate(POINT).delay


def test_axes_that_undo_each_other_are_refused() -> None:
    with pytest.raises(wc.ScenarioError, match="varied too") as caught:
        wc.Grid(POINT, {"traffic.streams": [4, 8], "traffic": [{"batch": {"mean": 2.0}}]})
    assert caught.value.field == "traffic.streams"


def test_a_scheduler_that_says_nothing_is_an_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as mute, pytest.raises(wc.SchedulerError, match="does not answer"):
        wc.sweep(wc.Grid(POINT, {"seed": [1]}), f"dask://127.0.0.1:{mute.getsockname()[1]}", timeout=0.5)


def test_what_a_saturated_host_does_not_tell_is_said() -> None:
    seen = wc.observe(POINT.replace(rate_per_s=1e6), streams=True)
    assert not seen and "saturated" in repr(seen) and "saturated" in seen._repr_html_()


@pytest.mark.parametrize("engine", ["dask://nonsense", "foo://host:1"])
def test_an_address_that_is_none_is_said_to_be_none(engine: str) -> None:
    with pytest.raises(wc.SchedulerError, match="with its port") as caught:
        wc.sweep(wc.Grid(POINT, {"seed": [1]}), engine, timeout=0.5)
    assert caught.value.field == "engine"
