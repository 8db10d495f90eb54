"""Grids and engines that cannot be are refused."""

from __future__ import annotations

import socket

import pytest
import warmcore as wc
from common import QUICK


def test_axes_that_undo_each_other_are_refused() -> None:
    with pytest.raises(wc.ScenarioError, match="varied too") as caught:
        wc.Grid(QUICK, {"traffic.streams": [4, 8], "traffic": [{"batch": {"mean": 2.0}}]})
    assert caught.value.field == "traffic.streams"


def test_a_scheduler_that_says_nothing_is_an_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as mute, pytest.raises(wc.SchedulerError, match="does not answer"):
        wc.sweep(wc.Grid(QUICK, {"seed": [1]}), f"dask://127.0.0.1:{mute.getsockname()[1]}", timeout=0.5)


@pytest.mark.parametrize("engine", ["dask://nonsense", "foo://host:1"])
def test_an_address_that_is_none_is_said_to_be_none(engine: str) -> None:
    with pytest.raises(wc.SchedulerError, match="with its port") as caught:
        wc.sweep(wc.Grid(QUICK, {"seed": [1]}), engine, timeout=0.5)
    assert caught.value.field == "engine"
