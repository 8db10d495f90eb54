"""What may be given wrongly is refused with its field."""

from __future__ import annotations

import numpy as np
import pytest
import warmcore as wc
from common import QUICK


def test_arguments_of_other_types_are_errors_of_both_kinds() -> None:
    calls = [
        ("profile", lambda: wc.simulate(QUICK, profile="x")),  # type: ignore[call-overload]
        ("cost", lambda: wc.simulate(QUICK, cost=3)),  # type: ignore[call-overload]
        ("policy", lambda: wc.simulate(QUICK, policy=3)),  # type: ignore[call-overload]
        ("scenario", lambda: wc.simulate(3)),  # type: ignore[call-overload]
        ("scenario", lambda: wc.observe(3)),  # type: ignore[arg-type]
        ("path", lambda: wc.Profile.load(3)),  # type: ignore[arg-type]
        ("source", lambda: wc.PacketScenario.from_toml(3)),  # type: ignore[arg-type]
        ("1", lambda: QUICK.replace({1: 1})),  # type: ignore[dict-item]
        ("grid", lambda: wc.sweep(QUICK)),  # type: ignore[arg-type]
        ("axes", lambda: wc.Grid(QUICK, [1])),  # type: ignore[arg-type]
        ("scenario", lambda: wc.Grid(None, {})),  # type: ignore[arg-type]
        ("seed", lambda: wc.Grid(QUICK, {"seed": 1})),  # type: ignore[dict-item]
        ("source", lambda: wc.Grid.from_toml(None)),  # type: ignore[arg-type]
        ("source", lambda: wc.Grid.from_toml(b"x")),  # type: ignore[arg-type]
        ("path", lambda: wc.open_dataset(3)),  # type: ignore[arg-type]
        ("path", lambda: wc.open_dataset(b"x")),  # type: ignore[arg-type]
        ("PacketScenario", lambda: wc.PacketScenario(8)),  # type: ignore[call-arg]
        ("histogram", lambda: wc.observe(QUICK, histogram=np.array([1, 2]))),  # type: ignore[arg-type]
        ("streams", lambda: wc.observe(QUICK, streams="no")),  # type: ignore[arg-type]
    ]
    for field, call in calls:
        with pytest.raises(wc.ArgumentError) as caught:
            call()
        assert caught.value.field == field and isinstance(caught.value, TypeError) and isinstance(caught.value, wc.Error)


def test_values_that_cannot_be_are_refused_with_their_field(tmp_path: object) -> None:
    grid = wc.Grid(QUICK, {"seed": [1]})
    calls = [
        ("speeds.99", lambda: QUICK.replace({"processors": 2, "speeds": [1.0, 2.0]}).replace({"speeds.99": 1.0})),
        ("speeds.x", lambda: QUICK.replace({"processors": 2, "speeds": [1.0, 2.0]}).replace({"speeds.x": 1.0})),
        ("profile", lambda: wc.PacketScenario(profile="\udcff")),
        ("source", lambda: wc.PacketScenario.from_toml("a = '\udcff'")),
        (r"\udcff", lambda: wc.PacketScenario(**{"\udcff": 1})),
        (r"traffic.\udcff", lambda: wc.PacketScenario(traffic={"\udcff": 1})),
        (r"\udcff", lambda: wc.Grid(QUICK, {"\udcff": [1]})),
        ("source", lambda: wc.Grid.from_toml("a = '\udcff'\n")),
        ("path", lambda: wc.open_dataset("\udcff")),
        ("arrivals.times", lambda: wc.simulate(wc.PacketScenario(), arrivals=(np.zeros(3_000), np.zeros(3_000, int)))),
        ("arrivals.times", lambda: wc.simulate(wc.PacketScenario(), arrivals=([5.0], [0]))),
        ("arrivals.streams", lambda: wc.simulate(wc.PacketScenario(), arrivals=([1.0, 2.0], [0, 1 << 24]))),
        ("cpu", lambda: wc.Run(-1)),
        ("cpu", lambda: wc.Wait("x")),  # type: ignore[arg-type]
        ("jobs", lambda: wc.sweep(grid, out=str(tmp_path), jobs=-1)),
        ("timeout", lambda: wc.sweep(grid, out=str(tmp_path), timeout=float("nan"))),
        ("out", lambda: wc.sweep(grid, out="\udcff")),
        ("model", lambda: wc.Grid({"processors": 2}, {"seed": [1]}, model="x")),
        ("seed, processors", lambda: wc.Grid(QUICK, {("seed", "processors"): [1]})),
    ]
    for field, call in calls:
        with pytest.raises(wc.Error) as caught:
            call()
        assert caught.value.field == field
    assert wc.Run(np.int64(3)) == wc.Run(3)


def test_names_that_are_not_there_are_refused_with_the_nearest() -> None:
    result = wc.simulate(QUICK)
    seen = wc.observe(QUICK, quantiles=[0.5])
    calls = [
        ("y", "did you mean 'delay'", lambda: wc.plot([result], y="dealy")),
        ("y", "'ended', of type str", lambda: wc.plot([result], y="ended")),
        ("x", "did you mean 'rate_per_s'", lambda: wc.plot([result], x="rate_per")),
        ("x", "a number", lambda: wc.plot([result], x="traffic")),
        ("by", "did you mean 'traffic.streams'", lambda: wc.plot([result], by="traffic.stream")),
        ("results", "a list of results", lambda: wc.plot(result)),
        ("results", "what wc.simulate returned", lambda: wc.plot([3])),  # type: ignore[list-item]
        ("name", "'delays' and 'services'", lambda: seen["histogram"]),
        ("name", "streams=True", lambda: seen["stream"]),
    ]
    for field, part, call in calls:
        with pytest.raises(wc.Error) as caught:
            call()
        assert caught.value.field == field and part in str(caught.value)
    assert seen.get("streams") is None and "streams" not in seen, "as in any mapping"
