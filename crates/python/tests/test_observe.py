"""What is observed of a point reaches other libraries whole."""

from __future__ import annotations

import pyarrow
import pytest
import warmcore as wc

POINT = wc.PacketScenario(rate_per_s=15_000, traffic=wc.Traffic(streams=4), run=wc.RunLength(precision=0.05))


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


def test_what_cannot_be_observed_is_refused() -> None:
    with pytest.raises(wc.ScenarioError):
        wc.observe(POINT, quantiles=[1.5])
    with pytest.raises(wc.ScenarioError) as caught:
        wc.observe(POINT, window_ns=-1.0)
    assert caught.value.field == "window_ns"
    with pytest.raises(TypeError, match="expected a PacketScenario"):
        wc.observe(wc.ClusterScenario(program={"name": "fft"}))  # type: ignore[arg-type]
