"""The highest rate of a host."""

from __future__ import annotations

import pytest
import warmcore as wc
from common import QUICK, MostRecent, Wired


def test_the_highest_rate() -> None:
    found = wc.capacity(QUICK)
    assert found.capacity.unit == "/s" and found.capacity.mean > 15_000 and found.within_limit is None
    assert found.bound_by and len(found.table) == 0
    same = wc.simulate(QUICK).capacity
    assert same is not None and same.mean == pytest.approx(found.capacity.mean, rel=0.05)
    with pytest.raises(wc.ScenarioError) as caught:
        wc.capacity(QUICK, p99_below_ns=-1.0)
    assert caught.value.field == "p99_below_ns"
    with pytest.raises(wc.ScenarioError, match="closed"):
        wc.capacity(QUICK.replace({"rate_per_s": None, "traffic.process": {"closed": {"think_us": 1000}}}))


@pytest.mark.parametrize(("policy", "name"), [(MostRecent(), "mru"), (Wired(), "wired-streams")])
def test_a_policy_of_ones_own_keeps_up_with_what_the_same_in_rust_does(policy: wc.Policy, name: str) -> None:
    # Streams of unlike popularity, so that one processor is the busiest where streams are wired.
    scenario = QUICK.replace({"traffic.popularity": {"zipf": 1.0}, "scheduling.policy": name})
    own, built_in = wc.capacity(scenario, policy=policy), wc.capacity(scenario)
    assert own.bound_by == built_in.bound_by and own.bound_by.startswith("all" if name == "mru" else "processor")
    assert own.capacity.mean == pytest.approx(built_in.capacity.mean, rel=0.02)
    assert (own.busiest_server is None) == (built_in.busiest_server is None)
    assert own.replaced["scheduling.policy"] == type(policy).__name__


def test_the_highest_rate_with_costs_of_ones_own() -> None:
    usual, twice = wc.capacity(QUICK), wc.capacity(QUICK, cost=lambda found: 2.0 * found.usual)
    assert twice.capacity.mean == pytest.approx(usual.capacity.mean / 2.0, rel=0.02)
    with pytest.raises(wc.ScenarioError, match="own") as caught:
        wc.capacity(QUICK, cost=lambda found: found.usual, p99_below_ns=1e6)
    assert caught.value.field == "p99_below_ns"
    with pytest.raises(wc.ArgumentError, match="derives from wc.Policy"):
        wc.capacity(QUICK, policy="mru")  # type: ignore[arg-type]
