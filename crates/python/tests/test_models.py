"""A policy, arrivals and costs of one's own."""

from __future__ import annotations

import math
import pathlib
import random

import numpy as np
import pytest
import warmcore as wc
from common import QUICK, MostRecent, Wired, interrupted

POINT = wc.PacketScenario(
    rate_per_s=40_000, scheduling=wc.Scheduling(policy="mru"), run=wc.RunLength(precision=0.05, max_packets=20_000)
)


@pytest.mark.parametrize(("policy", "name"), [(MostRecent(), "mru"), (Wired(), "wired-streams")])
def test_a_policy_in_python_decides_as_the_same_in_rust(policy: wc.Policy, name: str) -> None:
    own = wc.simulate(POINT, policy=policy)
    built_in = wc.simulate(POINT.replace({"scheduling.policy": name}))
    # The same packets and the same decisions; packets may enter the statistics in another order.
    assert (own.situations, own.packets) == (built_in.situations, built_in.packets)
    assert own.delay is not None and built_in.delay is not None
    assert own.delay.mean == pytest.approx(built_in.delay.mean, rel=1e-3)


def test_a_policy_keeps_state_and_each_run_begins_anew() -> None:
    class InTurn(wc.Policy):
        queues = "per-processor"

        def __init__(self) -> None:
            self.next = 0

        def place(self, request: wc.Request, view: wc.View) -> wc.Run | wc.Wait:
            self.next = (self.next + 1) % view.processors
            assert view.loads[self.next] == view.load(self.next)
            assert (self.next in view.idle) == view.is_idle(self.next)
            return wc.Run(self.next) if view.is_idle(self.next) else wc.Wait(self.next)

    policy = InTurn()
    one, other = wc.simulate(POINT, policy=policy), wc.simulate(POINT, policy=policy)
    assert one.delay == other.delay and policy.next == 0


def test_random_numbers_of_requests_come_from_the_seed() -> None:
    class Anywhere(wc.Policy):
        def place(self, request: wc.Request, view: wc.View) -> wc.Run | wc.Wait:
            assert 0 <= request.random < 1
            return wc.Run(view.idle[int(request.random * len(view.idle))]) if view.idle else wc.Wait(request.home)

    one, other = wc.simulate(POINT, policy=Anywhere()), wc.simulate(POINT, policy=Anywhere())
    assert one.delay == other.delay
    assert one.delay != wc.simulate(POINT.replace(seed=2), policy=Anywhere()).delay


def test_random_numbers_of_costs_come_from_the_seed_and_each_run_begins_anew() -> None:
    class Drawn:
        """Draws from a generator of its own, which is copied with it."""

        def __init__(self) -> None:
            self.random = random.Random(3)

        def __call__(self, found: wc.Found) -> float:
            assert 0 <= found.random < 1
            return found.usual * (0.5 + (found.random + self.random.random()) / 2)

    cost = Drawn()
    one, other = wc.simulate(POINT, cost=cost), wc.simulate(POINT, cost=cost)
    assert one.delay == other.delay == wc.observe(POINT, cost=cost, streams=True).result.delay
    assert cost.random.random() == random.Random(3).random()
    assert one.delay != wc.simulate(POINT.replace(seed=2), cost=cost).delay


def test_what_a_policy_raises_reaches_its_caller() -> None:
    class Broken(wc.Policy):
        def place(self, request: wc.Request, view: wc.View) -> wc.Run | wc.Wait:
            raise LookupError("no such processor")

    class Wrong(wc.Policy):
        def place(self, request: wc.Request, view: wc.View) -> wc.Run | wc.Wait:
            return 3  # type: ignore[return-value]

    class Busy(wc.Policy):
        def place(self, request: wc.Request, view: wc.View) -> wc.Run | wc.Wait:
            return wc.Run(0)

    with pytest.raises(LookupError, match="no such processor"):
        wc.simulate(POINT, policy=Broken())
    with pytest.raises(wc.ScenarioError, match=r"is 3, expected wc.Run"):
        wc.simulate(POINT, policy=Wrong())
    with pytest.raises(wc.ScenarioError, match="cpu 0, which is busy"):
        wc.simulate(POINT, policy=Busy())
    with pytest.raises(TypeError, match="derives from wc.Policy"):
        wc.simulate(POINT, policy=object())  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="only a PacketScenario"):
        wc.simulate(wc.ClusterScenario(program={"name": "fft"}), policy=Wired())  # type: ignore[call-overload]


LONG = "import operator, warmcore as wc\nscenario = wc.PacketScenario(rate_per_s=40_000, run=wc.RunLength(precision=1e-6))\n"
SLOW = """
class Slow(wc.Policy):
    def place(self, request, view):
        return wc.Wait(request.home) if view.most_recent is None else wc.Run(view.most_recent)
"""


@pytest.mark.parametrize(
    "work",
    [
        SLOW + "work = lambda: wc.simulate(scenario, policy=Slow())",
        SLOW + "work = lambda: wc.compare(scenario, against_policy=Slow())",
        SLOW + "work = lambda: wc.simulate_grid(wc.Grid(scenario, {'seed': [1]}), policy=Slow(), progress=False)",
        # Code in C looks for no signals itself.
        "work = lambda: wc.simulate(scenario.replace(rate_per_s=10_000), cost=operator.attrgetter('usual'))",
    ],
)
def test_ctrl_c_ends_models_in_python(work: str) -> None:
    assert interrupted(LONG + work) == "interrupted\n"


def test_arrivals_of_arrays_are_followed() -> None:
    # One processor, packets so far apart that none waits: each takes what it is charged.
    times = np.arange(100) * 1e9
    one = POINT.replace(processors=1, rate_per_s=None)
    result = wc.simulate(one, arrivals=(times, np.zeros(100, dtype=int)), cost=lambda found: 250.0)
    assert result.packets == 100 and result.delay is not None
    assert result.delay.mean == pytest.approx(250.0, rel=1e-6)
    assert float(result.rate) == pytest.approx(1.0, rel=0.02)
    # The same packets twice as fast.
    assert float(wc.simulate(one.replace(rate_per_s=2.0), arrivals=(times, np.zeros(100, dtype=int))).rate) == pytest.approx(2.0)


def test_a_cost_of_ones_own_sees_what_a_packet_finds() -> None:
    seen: list[wc.Found] = []

    def dearer(found: wc.Found) -> float:
        seen.append(found)
        return 2 * found.usual

    usual, twice = wc.simulate(POINT.replace(rate_per_s=10_000)), wc.simulate(POINT.replace(rate_per_s=10_000), cost=dearer)
    assert usual.service is not None and twice.service is not None
    assert twice.service.mean == pytest.approx(2 * usual.service.mean, rel=0.1)
    assert {found.cpu for found in seen} <= set(range(8)) and "A1" in " ".join({found.situation for found in seen})
    with pytest.raises(wc.ScenarioError, match="from 1 to 1e9 ns"):
        wc.simulate(POINT, cost=lambda found: -1.0)
    with pytest.raises(ZeroDivisionError):
        wc.simulate(POINT, cost=lambda found: 1 / 0)


@pytest.mark.parametrize("run", [{"packets": 5_000}, {"replications": 2}, {"warmup_packets": 5}])
@pytest.mark.parametrize("cost", [None, lambda found: 250.0])
def test_arrays_are_simulated_once_and_all_so_a_length_of_runs_is_refused(run: dict[str, int], cost: object) -> None:
    arrivals = (np.arange(100) * 1e9, np.zeros(100, dtype=int))
    field = next(iter(run))
    with pytest.raises(wc.ScenarioError, match="all of them are simulated, once") as caught:
        wc.simulate(wc.PacketScenario(run=run), arrivals=arrivals, cost=cost)  # type: ignore[call-overload]
    assert caught.value.field == f"run.{field}"


@pytest.mark.parametrize(
    ("times", "streams", "field"),
    [
        ([0.0, 1.0], [0], "arrivals.streams"),
        ([1.0, 0.0], [0, 0], "arrivals.times.1"),
        ([0.0, float("nan")], [0, 0], "arrivals.times.1"),
        ([], np.array([], dtype=int), "arrivals"),
        ([[0.0]], [0], "arrivals.times"),
        ([0.0], [0.5], "arrivals.streams"),
        ([0.0], [-1], "arrivals.streams"),
        ([0.0], [1 << 31], "arrivals.streams"),
        (["a"], [0], "arrivals.times"),
    ],
)
def test_impossible_arrivals_are_refused(times: object, streams: object, field: str) -> None:
    with pytest.raises(wc.ScenarioError) as caught:
        wc.simulate(POINT, arrivals=(times, streams))  # type: ignore[arg-type]
    assert caught.value.field == field
    with pytest.raises(wc.ScenarioError, match="two arrays"):
        wc.simulate(POINT, arrivals=np.zeros(5))  # type: ignore[arg-type]


def test_profiles(tmp_path: pathlib.Path) -> None:
    profile = wc.Profile.sgi_challenge_xl()
    path = tmp_path / "profile.toml"
    profile.save(path)
    assert wc.Profile.load(path) == profile and "SGI" in repr(profile)
    with pytest.raises(FileExistsError):
        profile.save(path)
    assert profile.time("A1").mean < profile.time("A1", cold=1).mean
    assert "cold L1" in profile._repr_html_()
    assert wc.simulate(POINT, profile=profile).delay == wc.simulate(POINT).delay
    with pytest.raises(wc.ProfileError, match="missing.toml"):
        wc.Profile.load(tmp_path / "missing.toml")
    path.write_text(path.read_text().replace("[provenance]", "[povenance]", 1))
    with pytest.raises(wc.ProfileError, match="profile.toml:"):
        wc.Profile.load(path)


def test_the_capacity_of_ones_own_is_that_of_the_same_host_by_its_name() -> None:
    """Under Zipf the busiest of the stacks keeps up with less than all processors do."""
    zipf = {"traffic.popularity": {"zipf": 1.6}, "scheduling.approach": "ips", "scheduling.policy": "wired-streams"}
    for scenario in (POINT, POINT.replace(zipf)):
        named = wc.simulate(scenario).capacity
        own = wc.simulate(scenario, cost=lambda found: found.usual).capacity
        assert named is not None and own is not None
        assert named.half_width is not None and own.half_width is not None and own.half_width < 0.05 * own.mean
        # The same random numbers do not make them the same runs: both may be off.
        assert abs(named.mean - own.mean) <= 2 * (named.half_width + own.half_width)


def test_replications_a_warm_up_and_closed_loops_of_ones_own() -> None:
    several = POINT.replace({"run.replications": 3, "run.warmup_packets": 4_000, "run.packets": 20_000})
    result = wc.simulate(several, cost=lambda found: found.usual)
    assert result.packets == 60_000 and result.warmup_packets is not None and result.warmup_packets >= 12_000
    closed = POINT.replace({"rate_per_s": None, "traffic.process": {"closed": {"think_us": 1000}}, "run.packets": 20_000})
    own = wc.simulate(closed, cost=lambda found: found.usual)
    named = wc.simulate(closed)
    assert own.capacity is None and own.throughput is not None and named.throughput is not None
    assert abs(own.throughput.mean / named.throughput.mean - 1) < 0.05


@pytest.mark.parametrize("answer", [3, None, "cpu", np.int64(1)])
def test_a_policy_that_returns_nonsense_is_refused(answer: object) -> None:
    class Wrong(wc.Policy):
        def place(self, request: wc.Request, view: wc.View) -> wc.Run | wc.Wait:
            return answer  # type: ignore[return-value]

    with pytest.raises(wc.ScenarioError, match=r"expected wc.Run\(cpu\) or wc.Wait\(cpu\)") as caught:
        wc.simulate(QUICK, policy=Wrong())
    assert caught.value.field == "policy.place()"


@pytest.mark.parametrize("cost", [0, 0.5, -1.0, 1e10, 1e300, float("inf"), float("nan"), None, "1"])
def test_costs_that_cannot_be_are_refused(cost: object) -> None:
    with pytest.raises(wc.ScenarioError, match="from 1 to 1e9 ns") as caught:
        wc.simulate(QUICK, cost=lambda found: cost)  # type: ignore[arg-type, return-value]
    assert caught.value.field == "cost()"


def test_costs_of_numpy_are_numbers_and_a_length_that_is_given_is_kept() -> None:
    result = wc.simulate(QUICK.replace({"run.packets": 5_000}), cost=lambda found: np.float64(20_000.0))
    assert result.service is not None and result.service.mean == pytest.approx(20_000.0)
    assert result.ended == "fixed-length" and result.packets == 5_000


def test_arrays_give_no_intervals_and_masked_ones_are_refused() -> None:
    times, streams = np.arange(500) * 1e5, np.zeros(500, dtype=int)
    result = wc.simulate(QUICK.replace(rate_per_s=None), arrivals=(times, streams), policy=MostRecent())
    assert result.delay is not None and result.delay.half_width is None
    with pytest.raises(wc.ScenarioError, match="masked"):
        wc.simulate(QUICK, arrivals=(np.ma.masked_less(times, 10), streams))


def test_near_capacity_costs_of_ones_own_give_no_interval_of_the_delay() -> None:
    result = wc.simulate(
        QUICK.replace({"processors": 1, "rate_per_s": 9_500, "run.precision": 0.001, "scheduling.policy": "mru"}),
        cost=lambda found: 100_000.0,
    )
    assert result.ended == "near-capacity" and result.delay is not None and result.service is not None
    assert result.delay.half_width == math.inf and result.service.half_width != math.inf


def test_times_of_another_kind_are_refused() -> None:
    times = np.arange(5).astype("timedelta64[us]")
    with pytest.raises(wc.ScenarioError, match="numbers of nanoseconds") as caught:
        wc.simulate(QUICK, arrivals=(times, np.zeros(5, dtype=int)))
    assert caught.value.field == "arrivals.times"


def test_a_policy_of_ones_own_loses_what_the_same_policy_by_its_name_does() -> None:
    """Queues with a limit cannot grow for ever: above the capacity there are figures too."""
    limited = QUICK.replace(
        {"processors": 2, "rate_per_s": 60_000, "queues.limit": 8, "scheduling.policy": "mru", "run.packets": 30_000}
    )
    named, own = wc.simulate(limited), wc.simulate(limited, policy=MostRecent())
    assert named.lost_fraction is not None and own.lost_fraction is not None
    assert named.lost_fraction.mean == own.lost_fraction.mean > 0.2


def test_arrays_are_replayed_whole_by_a_policy_of_ones_own() -> None:
    rng = np.random.default_rng(26)
    arrays = (np.cumsum(rng.exponential(60_000.0, 3_000)), rng.integers(0, 8, 3_000))
    scenario = QUICK.replace({"rate_per_s": None, "scheduling.policy": "mru"})
    named, own = wc.simulate(scenario, arrivals=arrays), wc.simulate(scenario, arrivals=arrays, policy=MostRecent())
    assert named.delay is not None and own.delay is not None
    # Ends of service are rounded to the clock otherwise.
    assert own.delay.mean == pytest.approx(named.delay.mean, rel=1e-5)
    assert named.packets == own.packets == 3_000 and own.warmup_packets == 0


def test_a_run_of_a_given_length_near_the_capacity_has_no_interval() -> None:
    near = QUICK.replace(
        {"processors": 1, "rate_per_s": 9_500, "traffic.streams": 1, "scheduling.policy": "mru", "run.packets": 20_000}
    )
    result = wc.simulate(near, policy=MostRecent(), cost=lambda found: 100_000.0)
    assert result.ended == "near-capacity" and result.delay is not None and result.delay.half_width == math.inf


@pytest.mark.parametrize("policy", ["hash-stealing", "adaptive"])
def test_a_processor_that_others_help_does_not_set_the_capacity(policy: str) -> None:
    scenario = QUICK.replace({"scheduling.policy": policy, "rate_per_s": 30_000, "run.packets": 5_000})
    for seed in (2, 3):
        named = wc.simulate(scenario.replace(seed=seed)).capacity
        own = wc.simulate(scenario.replace(seed=seed), cost=lambda found: found.usual).capacity
        assert named is not None and own is not None and named.half_width is not None and own.half_width is not None
        assert abs(named.mean - own.mean) <= named.half_width + own.half_width + 0.01 * named.mean


def test_a_policy_that_simulates_with_itself_without_end_is_refused() -> None:
    class Endless(MostRecent):
        def place(self, request: wc.Request, view: wc.View) -> wc.Run | wc.Wait:
            wc.simulate(QUICK, policy=Endless())
            return super().place(request, view)

    with pytest.raises(wc.ScenarioError, match="50 levels deep") as caught:
        wc.simulate(QUICK, policy=Endless())
    assert caught.value.field == "policy"
    # The levels are left again.
    assert wc.simulate(QUICK, policy=MostRecent()).delay is not None
