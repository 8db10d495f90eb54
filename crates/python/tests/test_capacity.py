"""The highest rate of a host."""

from __future__ import annotations

import pytest
import warmcore as wc
from common import QUICK


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
