"""What Python costs beside the binary. For a quiet machine, an optimised wheel, and the optimised binary in WARMCORE_BINARY."""

from __future__ import annotations

import os
import pathlib
import statistics
import subprocess
import time

import pytest
import warmcore as wc
from common import MostRecent

BINARY = os.environ.get("WARMCORE_BINARY", "")
pytestmark = pytest.mark.skipif(not BINARY, reason="name the optimised binary in WARMCORE_BINARY")
#: How much longer a call may take, as a fraction.
LIMIT = 0.03
ROUNDS = 9


def seconds(work: object) -> float:
    began = time.perf_counter()
    work()  # type: ignore[operator]
    return time.perf_counter() - began


def test_ten_million_packets_cost_little_more_through_python(tmp_path: pathlib.Path) -> None:
    """A call of ``wc.simulate`` against a whole run of the binary, less what a run of it takes that simulates nothing."""
    scenario = wc.PacketScenario(
        rate_per_s=40_000,
        scheduling=wc.Scheduling(policy="mru"),
        run=wc.RunLength(precision=1e-6, max_packets=10_000_000),
    )
    document = tmp_path / "point.toml"
    document.write_text(scenario.to_toml())

    def binary(*more: str) -> None:
        words = [BINARY, "simulate", "packet", "--scenario", str(document), *more]
        subprocess.run(words, check=True, capture_output=True)

    python: list[float] = []
    rust: list[float] = []
    nothing: list[float] = []
    for _ in range(ROUNDS):  # In turn, so that what disturbs disturbs all.
        python.append(seconds(lambda: wc.simulate(scenario)))
        rust.append(seconds(lambda: binary("--json")))
        nothing.append(seconds(lambda: binary("--print-scenario")))
    own = statistics.median(rust) - statistics.median(nothing)
    ratio = statistics.median(python) / own
    print(f"python {statistics.median(python):.3f} s, binary {own:.3f} s without its start: {ratio - 1:+.2%}")
    assert wc.simulate(scenario).packets == 10_000_000
    assert ratio < 1 + LIMIT


def test_what_a_policy_in_python_costs() -> None:
    scenario = wc.PacketScenario(rate_per_s=40_000, scheduling=wc.Scheduling(policy="mru"), run=wc.RunLength(precision=1e-6))
    own = wc.simulate(scenario.replace({"run.max_packets": 500_000}), policy=MostRecent())
    built_in = wc.simulate(scenario.replace({"run.max_packets": 10_000_000}))
    each = [float(one.wall_time) * 1e9 / (one.packets or 1) for one in (own, built_in)]
    print(f"{each[0]:.0f} ns a packet with a policy in Python, {each[1]:.0f} ns in Rust: {each[0] / each[1]:.0f} times")
    assert each[0] < 10_000
