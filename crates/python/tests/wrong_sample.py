"""What mypy must refuse."""

import warmcore as wc

wc.PacketScenario(procesors=8)
wc.Scheduling(policy="mur")
wc.PacketScenario(processors="eight")
wc.simulate(wc.ClusterScenario(), policy=None, profile=3)
