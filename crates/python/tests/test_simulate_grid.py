"""A grid's points under models of one's own are a sweep's rows."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest
import warmcore as wc
from common import MostRecent, Wired

POINT = wc.PacketScenario(scheduling=wc.Scheduling(policy="mru"), run=wc.RunLength(packets=5_000))
GRID = wc.Grid(POINT, {"traffic.streams": [8, 64], "load": [0.1, 0.4]})


def test_the_table_is_that_of_a_sweep(tmp_path: pathlib.Path) -> None:
    swept = wc.sweep(GRID, out=tmp_path / "set", progress=False)
    theirs = swept.to_pandas().sort_values(["traffic.streams", "load"], ignore_index=True)
    seen: list[tuple[int, int]] = []
    plain = wc.simulate_grid(GRID, progress=lambda done, total, left: seen.append((done, total)))
    assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)]
    ours = plain.to_pandas()
    assert list(ours) == list(theirs) and plain.units["mean_delay"] == "ns"
    # Without a model of one's own it is the same simulation.
    for column in ours:
        assert ours[column].isna().equals(theirs[column].isna())
        assert (ours[column].dropna() == theirs[column].dropna()).all(), column
    own = wc.simulate_grid(GRID, policy=MostRecent(), progress=False).to_pandas()
    assert own["mean_delay"].to_numpy() == pytest.approx(ours["mean_delay"].to_numpy(), rel=1e-3)
    assert (own["arrival_rate"] == ours["arrival_rate"]).all(), "a load is of what the named policy keeps up with"


def test_any_model_of_ones_own_goes_over_a_grid() -> None:
    seeds = wc.Grid(POINT.replace(rate_per_s=10_000), {"seed": [1, 2]})
    one = wc.simulate_grid(seeds, policy=Wired(), cost=lambda found: 2 * found.usual, progress=False)
    assert one.row(0)["mean_delay"] != one.row(1)["mean_delay"]
    assert one == wc.simulate_grid(seeds, policy=Wired(), cost=lambda found: 2 * found.usual, progress=False)
    rates = wc.Grid(wc.PacketScenario(), {"rate_per_s": [1_000, 2_000]})
    arrivals = (np.arange(1_000) * 1e5, np.zeros(1_000, dtype=int))
    table = wc.simulate_grid(rates, arrivals=arrivals, progress=False)
    assert [table.row(index)["arrival_rate"] for index in range(2)] == pytest.approx([1_000, 2_000])
    assert [table.row(index)["packets"] for index in range(2)] == [1_000, 1_000]


def test_what_it_cannot_do_is_refused() -> None:
    def broken(found: wc.Found) -> float:
        raise LookupError("no cost")

    with pytest.raises(LookupError, match="no cost"):
        wc.simulate_grid(GRID, cost=broken, progress=False)
    with pytest.raises(wc.ArgumentError, match="expected a grid"):
        wc.simulate_grid(POINT)  # type: ignore[arg-type]
    arrivals = (np.arange(100) * 1e5, np.zeros(100, dtype=int))
    with pytest.raises(wc.ScenarioError, match="stand for all of it") as caught:
        wc.simulate_grid(wc.Grid(POINT.replace(rate_per_s=1_000), {"traffic.streams": [8, 9]}), arrivals=arrivals, progress=False)
    assert caught.value.field == "traffic.streams"
    clusters = wc.Grid(wc.ClusterScenario(program={"name": "fft"}), {"name": ["a"]})
    with pytest.raises(wc.ArgumentError, match="a grid of packets"):
        wc.simulate_grid(clusters)
