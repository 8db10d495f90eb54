"""What is observed of a point reaches other libraries whole."""

from __future__ import annotations

import math

import numpy as np
import pyarrow
import pytest
import warmcore as wc
from common import QUICK, MostRecent

POINT = wc.PacketScenario(rate_per_s=15_000, traffic=wc.Traffic(streams=4), run=wc.RunLength(precision=0.05))
#: A point that a policy in Python simulates soon.
SHORT = wc.PacketScenario(
    rate_per_s=40_000, scheduling=wc.Scheduling(policy="mru"), run=wc.RunLength(precision=0.05, max_packets=20_000)
)


def test_tables_are_by_name_and_the_result_is_the_same() -> None:
    seen = wc.observe(POINT, quantiles=[0.5, 0.9], histogram=True, streams=True, warmup=True, window_ns=1e8, events=100)
    assert set(seen) == {"quantiles", "delays", "services", "streams", "time-series", "warm-up", "events"}
    assert seen.result.delay == wc.simulate(POINT).delay
    assert len(seen["streams"]) == 4 and len(seen["quantiles"]) == 2
    assert "streams (4 rows)" in repr(seen) and "streams" in seen._repr_html_()
    assert not wc.observe(POINT)


def test_a_million_rows_reach_pandas_and_polars() -> None:
    events = wc.observe(POINT, events=350_000)["events"]
    table = pyarrow.table(events)
    assert len(events) == table.num_rows > 1_000_000
    # The same memory, not a copy: two imports of a column have one address.
    column = next(name for name in table.column_names if pyarrow.types.is_floating(table.schema.field(name).type))
    addresses = {pyarrow.table(events)[column].chunk(0).buffers()[1].address for _ in range(2)}
    assert len(addresses) == 1
    assert len(wc.to_polars(events)) == len(wc.to_pandas(events)) == len(events)


def test_a_policy_of_ones_own_is_observed_as_the_built_in_one() -> None:
    wanted = dict(quantiles=[0.5], slower_than_ns=2e5, histogram=True, streams=True, warmup=True, window_ns=1e7, events=200)
    own, built_in = wc.observe(SHORT, policy=MostRecent(), **wanted), wc.observe(SHORT, **wanted)  # type: ignore[arg-type]
    assert set(own) == set(built_in) and own.result.replaced == {"scheduling.policy": "MostRecent"}
    for name in own:
        ours, theirs = own[name].to_pandas(), built_in[name].to_pandas()
        # The same packets and the same decisions; times are rounded in another order.
        for column in ours:
            if ours[column].dtype.kind == "f":
                assert ours[column].to_numpy() == pytest.approx(theirs[column].to_numpy(), rel=0.01, abs=0.01, nan_ok=True)
            elif name in ("events", "streams", "quantiles"):
                assert list(ours[column]) == list(theirs[column])
    assert own.result.delay == wc.simulate(SHORT, policy=MostRecent()).delay


def test_costs_and_arrivals_of_ones_own_are_observed() -> None:
    times, streams = np.arange(100) * 1e9, np.zeros(100, dtype=int)
    lone = SHORT.replace(processors=1, rate_per_s=None)
    seen = wc.observe(lone, arrivals=(times, streams), cost=lambda found: 250.0, streams=True, slower_than_ns=300.0, events=10)
    assert seen["streams"].row(0)["packets"] == 100 - (seen.result.warmup_packets or 0)
    assert seen.slower is not None and seen.slower.mean == 0.0 and seen.slower.half_width == math.inf
    assert list(seen["events"].to_pandas().time)[:2] == [0.0, 0.0] and len(seen["events"]) == 30
    assert len(wc.observe(lone, arrivals=(times, streams), streams=True)["streams"]) == 1
    crowded = wc.observe(SHORT.replace(rate_per_s=1e6), policy=MostRecent(), streams=True, window_ns=1e7)
    assert set(crowded) == {"time-series"} and crowded.result.saturated


def test_what_cannot_be_observed_of_ones_own_is_refused_before_it_is_simulated() -> None:
    def never(found: wc.Found) -> float:
        raise AssertionError("simulated")

    for wanted, field in (({"quantiles": [0.99999]}, "quantiles"), ({"quantiles": [2.0]}, "quantiles")):
        with pytest.raises(wc.ScenarioError) as caught:
            wc.observe(SHORT, cost=never, **wanted)  # type: ignore[arg-type]
        assert caught.value.field == field
    with pytest.raises(wc.ScenarioError) as caught:
        wc.observe(SHORT, cost=never, events=10_000_000)
    assert caught.value.field == "events"
    with pytest.raises(AssertionError, match="simulated"):
        wc.observe(SHORT, cost=never)


def test_what_cannot_be_observed_is_refused() -> None:
    with pytest.raises(wc.ScenarioError):
        wc.observe(POINT, quantiles=[1.5])
    with pytest.raises(wc.ScenarioError) as caught:
        wc.observe(POINT, window_ns=-1.0)
    assert caught.value.field == "window_ns"
    with pytest.raises(TypeError, match="expected a PacketScenario"):
        wc.observe(wc.ClusterScenario(program={"name": "fft"}))  # type: ignore[arg-type]


def test_the_share_slower_than_a_limit_is_said() -> None:
    seen = wc.observe(QUICK, slower_than_ns=0.0)
    assert seen.slower is not None and seen.slower.mean == 1.0 and list(seen) == ["slower"]
    middle = wc.simulate(QUICK).p50
    assert middle is not None
    half = wc.observe(QUICK, slower_than_ns=middle.mean).slower
    assert half is not None and half.half_width is not None and half.mean == pytest.approx(0.5, abs=0.05)
    assert wc.observe(QUICK).slower is None


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
        wc.observe(QUICK, **given)  # type: ignore[arg-type]
    assert caught.value.field == field


def test_what_a_saturated_host_does_not_tell_is_said() -> None:
    seen = wc.observe(QUICK.replace(rate_per_s=1e6), streams=True)
    assert not seen and "saturated" in repr(seen) and "saturated" in seen._repr_html_()


@pytest.mark.parametrize("scale", ["log", "linear"])
def test_a_histogram_is_a_density(scale: str) -> None:
    seen = wc.observe(QUICK, histogram=True)
    axes = seen.plot("delays", scale=scale).axes[0]
    bars = [(bar.get_x(), bar.get_x() + bar.get_width(), bar.get_height()) for bar in axes.patches]
    areas = [height * (math.log(end / begin) if scale == "log" else end - begin) for begin, end, height in bars]
    assert len(bars) == len(seen["delays"]) and sum(areas) == pytest.approx(1.0)
    assert {round(end - begin, 12) for begin, end, _ in bars} != {round(bars[0][1] - bars[0][0], 12)}, "buckets widen"
    assert "per" in axes.get_ylabel() and axes.get_xlabel() == "delay"
    for name, of in (("streams", seen), ("delays", wc.observe(QUICK))):
        with pytest.raises(wc.ScenarioError, match="histogram=True"):
            of.plot(name)
