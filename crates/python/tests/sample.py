"""What a user writes, for mypy --strict: the stubs must know all of it."""

import warmcore as wc

scenario = wc.PacketScenario(
    processors=8,
    rate_per_s=20_000.0,
    scheduling=wc.Scheduling(policy="mru"),
    traffic=wc.Traffic(streams=4, sizes=[wc.Size(bytes=64, weight=1.0)]),
)
result: wc.PacketResult = wc.simulate(scenario)
streams: int = scenario.traffic.streams
other: wc.PacketScenario = scenario.replace({"traffic.streams": 8}, seed=2)
if result.delay is not None:
    low, high = result.delay.interval
    print(low + high)
cluster: wc.ClusterResult = wc.simulate(wc.ClusterScenario(program={"name": "fft"}))
print(cluster.cycles.mean, result.saturated, streams, other)


class First(wc.Policy):
    def place(self, request: wc.Request, view: wc.View) -> wc.Run | wc.Wait:
        return wc.Run(view.idle[0]) if view.idle else wc.Wait(request.home)


wc.simulate(scenario, policy=First(), cost=lambda found: found.usual + 1.0)
found: wc.Reproduction = wc.reproduce("salehi-1994", figure=12, quick=True)
profile: wc.Profile = wc.calibrate(quick=True)
