"""Two ways to process the same packets."""

from __future__ import annotations

import pickle

import pytest
import warmcore as wc
from common import MostRecent, Wired

POINT = wc.PacketScenario(rate_per_s=2_000, scheduling=wc.Scheduling(policy="mru"), run=wc.RunLength(packets=5_000))
WIRED = POINT.replace({"scheduling.policy": "wired-streams"})


def test_the_difference_is_narrower_than_the_delays_intervals() -> None:
    found = wc.compare(WIRED, POINT)
    assert found.difference is not None and found.difference.unit == "ns" and found.relative is not None
    assert found.decided and found.difference.mean > 0 and 0 < found.relative.mean < 1
    assert (found.runs, found.packets, found.against) == (20, 5_000, POINT)
    assert found.difference.half_width is not None
    alone = [wc.simulate(scenario).delay for scenario in (WIRED, POINT)]
    assert found.difference.half_width < sum(delay.half_width or 0.0 for delay in alone if delay is not None)
    back = wc.compare(POINT, WIRED).difference
    assert back is not None and back.mean == -found.difference.mean
    row = found.table.row(0)
    assert row["difference"] == found.difference.mean and found.table.units["difference"] == "ns"
    copied = pickle.loads(pickle.dumps(found))
    assert copied.difference == found.difference and copied.against == POINT


def test_policies_of_ones_own_are_compared_as_built_in_ones() -> None:
    built_in = wc.compare(WIRED, POINT).difference
    pairs = [
        wc.compare(POINT, policy=Wired()),
        wc.compare(WIRED, POINT, against_policy=MostRecent()),
        wc.compare(POINT, policy=Wired(), against_policy=MostRecent()),
    ]
    for found in pairs:
        assert found.difference is not None and built_in is not None
        assert found.difference.mean == pytest.approx(built_in.mean, rel=0.01)
        assert found.difference.half_width == pytest.approx(built_in.half_width, rel=0.05)
    assert pairs[0].replaced == {"scheduling.policy": "Wired"}
    same = wc.compare(POINT, policy=MostRecent()).difference
    assert same is not None and abs(same.mean) < 1.0, "rounding only"
    dearer = wc.compare(POINT, cost=lambda found: found.usual + 1_000).difference
    assert dearer is not None and dearer.mean == pytest.approx(1_000, rel=0.2)


def test_saturated_hosts_have_no_difference() -> None:
    crowded = POINT.replace(rate_per_s=1e6)
    for found in (wc.compare(crowded), wc.compare(crowded, policy=MostRecent())):
        assert found.difference is None and not found.decided
        assert found.saturated == ("scenario", "against") and "`scenario` and `against` are saturated" in repr(found)


def test_a_saturated_side_is_named() -> None:
    # All packets are of one stream: a single processor is too slow for them.
    host = POINT.replace({"rate_per_s": 20_000, "traffic.streams": 1})
    found = wc.compare(host, host.replace({"scheduling.policy": "wired-streams"}))
    assert found.difference is None and found.saturated == ("against",)
    assert "`against` is saturated" in repr(found) and "wired-streams" in repr(found) and "wired-streams" in found._repr_html_()
    own = wc.compare(host, policy=Wired())
    assert own.saturated == ("scenario",) and pickle.loads(pickle.dumps(own)).saturated == ("scenario",)
    assert wc.compare(POINT).saturated == () and "against the same scenario" in repr(wc.compare(POINT))


def test_other_packets_are_refused() -> None:
    calls = [
        ("against.seed", lambda: wc.compare(POINT, POINT.replace(seed=2))),
        ("against.rate_per_s", lambda: wc.compare(POINT, POINT.replace(rate_per_s=1_000))),
        ("against.traffic", lambda: wc.compare(POINT, POINT.replace({"traffic.streams": 3}))),
        ("against.run", lambda: wc.compare(POINT, POINT.replace({"run.packets": 6_000}))),
        ("against", lambda: wc.compare(POINT, 3)),  # type: ignore[arg-type]
        ("cost", lambda: wc.compare(POINT, cost=3)),  # type: ignore[arg-type]
    ]
    for field, call in calls:
        with pytest.raises(wc.Error) as caught:
            call()
        assert caught.value.field == field


def test_short_runs_near_the_capacity_decide_nothing() -> None:
    base = wc.PacketScenario(
        rate_per_s=61_000, traffic=wc.Traffic(streams=16), scheduling=wc.Scheduling(policy="mru"), run=wc.RunLength(packets=5_000)
    )
    compared = wc.compare(base, base.replace({"scheduling.policy": "lru"}))
    assert not compared.decided
    assert compared.difference is None or compared.difference.half_width == float("inf")
