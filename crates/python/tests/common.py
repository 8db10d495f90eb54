"""What several files of tests use: a point, built-in policies as a user writes them, and programs that are interrupted."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap

import pytest
import warmcore as wc

#: A point that is soon simulated.
QUICK = wc.PacketScenario(
    rate_per_s=15_000, traffic=wc.Traffic(streams=4), run=wc.RunLength(precision=0.05, max_packets=20_000)
)


class MostRecent(wc.Policy):
    """The built-in ``mru``."""

    def place(self, request: wc.Request, view: wc.View) -> wc.Run | wc.Wait:
        return wc.Wait(request.home) if view.most_recent is None else wc.Run(view.most_recent)


class Wired(wc.Policy):
    """The built-in ``wired-streams``."""

    queues = "per-processor"

    def place(self, request: wc.Request, view: wc.View) -> wc.Run | wc.Wait:
        return wc.Run(request.home) if view.is_idle(request.home) else wc.Wait(request.home)


def interrupted(program: str) -> str:
    """What a program prints that gets Ctrl-C while it does ``work()``, which takes longer than that."""
    whole = """
        print("ready", flush=True)
        try:
            work()
        except KeyboardInterrupt:
            print("interrupted", flush=True)
    """
    lines = textwrap.dedent(program) + textwrap.dedent(whole)
    child = subprocess.Popen([sys.executable, "-c", lines], stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout is not None and child.stdout.readline() == "ready\n"
        with pytest.raises(subprocess.TimeoutExpired):
            child.wait(timeout=0.3)
        child.send_signal(signal.SIGINT)
        return child.communicate(timeout=10)[0]
    finally:
        child.kill()
