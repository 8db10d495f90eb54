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
