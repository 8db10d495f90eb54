"""Results show themselves, cross processes, and say where they come from."""

from __future__ import annotations

import copy
import math
import pickle

import warmcore as wc
from common import QUICK, MostRecent


def test_a_table_shows_itself_and_becomes_a_frame() -> None:
    streams = wc.observe(QUICK, streams=True)["streams"]
    assert len(streams.to_pandas()) == len(streams.to_polars()) == 4
    assert "4 rows" in repr(streams) and "(ns)" in repr(streams)
    assert streams._repr_html_().count("<tr>") == 5
    assert wc.simulate(QUICK).table.column_names[0] in repr(wc.simulate(QUICK).table)


def test_results_and_tables_cross_processes() -> None:
    result = wc.simulate(QUICK)
    seen = wc.observe(QUICK, streams=True, quantiles=[0.5])
    for copied in (pickle.loads(pickle.dumps(result)), copy.deepcopy(result)):
        assert copied.figures == result.figures and copied.table == result.table and copied.scenario == QUICK
        assert copied.table.units == result.table.units
    restored = pickle.loads(pickle.dumps(seen))
    assert restored["streams"] == seen["streams"] and restored.result.delay == seen.result.delay
    assert restored["streams"].row(3) == seen["streams"].row(3)
    assert pickle.loads(pickle.dumps([wc.Run(3), wc.Wait(4)])) == [wc.Run(3), wc.Wait(4)]


def test_what_stood_for_profile_and_policy_is_said() -> None:
    profile = wc.Profile.sgi_challenge_xl()
    renamed = wc.Profile(profile._document.replace(profile.name, "mine"))
    result = wc.simulate(QUICK, profile=renamed, policy=MostRecent())
    row = result.table.row(0)
    assert (row["profile"], row["policy"]) == ("mine", "MostRecent")
    assert result.replaced == {"profile": "mine", "scheduling.policy": "MostRecent"}
    assert "scheduling.policy = MostRecent" in repr(result) and "MostRecent" in result._repr_html_()
    figure = wc.plot([result, wc.simulate(QUICK)], by="scheduling.policy")
    legend = figure.axes[0].get_legend()
    assert legend is not None
    labels = {text.get_text() for text in legend.get_texts()}
    assert labels == {"MostRecent", QUICK.scheduling.policy}
    assert wc.simulate(QUICK, profile=renamed).table.row(0)["profile"] == "mine"
    assert wc.observe(QUICK, profile=renamed).result.table.row(0)["profile"] == "mine"


def test_what_is_not_known_is_drawn_hollow() -> None:
    from matplotlib.colors import to_hex
    from warmcore.plotting import bars, lines

    known, unknown = wc.Estimate(1e3, 10.0, "ns"), wc.Estimate(2e3, math.inf, "ns")
    places, estimates = ("x", ""), [known, unknown]
    for figure, place in (
        (lines("Title", places, ("y", "ns"), {"a": list(enumerate(estimates))}), 1.0),
        (bars("Title", "y", "ns", ["p", "q"], {"a": estimates}), 1.0),
    ):
        axes = figure.axes[0]
        hollow = [line for line in axes.get_lines() if to_hex(str(line.get_markerfacecolor())) == "#ffffff"]
        assert [list(line.get_xdata()) for line in hollow if len(line.get_xdata())] == [[place]]
        legend = axes.get_legend()
        assert legend is not None and "half-width unknown" in [text.get_text() for text in legend.get_texts()]
    certain = lines("Title", places, ("y", "ns"), {"a": [(0, known)]}).axes[0]
    assert certain.get_legend() is None
