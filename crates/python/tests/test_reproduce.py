"""Published results, and their plots."""

from __future__ import annotations

import io
import os
import pathlib
import signal
import subprocess
import sys
import textwrap

import pyarrow
import pytest
import warmcore as wc


def test_a_figure_is_reproduced_judged_and_drawn() -> None:
    found = wc.reproduce("salehi-1994", figure=12, quick=True, precision=0.2)
    assert found.figures == ["12"] and "Salehi" in found.source
    claims = pyarrow.table(found.claims)
    assert claims.num_rows > 0 and sum(found.verdicts.values()) == claims.num_rows
    assert {"published", "ours", "ours_low", "ours_high", "verdict"} <= set(claims.column_names)
    assert pyarrow.table(found).num_rows > 20
    figure = found.plot()
    image = io.BytesIO()
    figure.savefig(image, format="png")
    assert image.getvalue().startswith(b"\x89PNG")
    assert len(figure.axes[0].get_legend().get_texts()) > 1
    assert "verdict" in found._repr_html_() and "salehi" in repr(found)


def test_results_draw_themselves(tmp_path: pathlib.Path) -> None:
    examples = pathlib.Path(__file__).parents[3] / "crates/cli/src/simulate"
    point = wc.PacketScenario(rate_per_s=20_000, run=wc.RunLength(precision=0.1))
    queue = wc.RunQueueScenario.from_toml(examples / "example.toml").replace(runs=2, seconds=2)
    cluster = wc.ClusterScenario.from_toml(examples / "cluster.toml").replace({"machine.nodes": 2, "machine.processors": 2})
    for scenario in (point, queue, cluster):
        wc.simulate(scenario).plot().savefig(tmp_path / "own.png")  # type: ignore[attr-defined]
    results = [
        wc.simulate(point.replace({"rate_per_s": rate, "scheduling.policy": policy}))
        for rate in (10_000.0, 1e7)
        for policy in ("mru", "lru")
    ]
    figure = wc.plot(results, by="scheduling.policy")
    labels = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert labels == ["mru", "lru"]
    # The saturated points have no delay.
    assert all(len(container[0].get_xdata()) == 1 for container in figure.axes[0].containers)


def test_what_is_unknown_is_refused() -> None:
    with pytest.raises(wc.Error, match="expected salehi-1994"):
        wc.reproduce("salehi-1995")  # type: ignore[arg-type]
    with pytest.raises(wc.Error, match="warmcore reproduce foong-2004"):
        wc.reproduce("foong-2004")  # type: ignore[arg-type]
    with pytest.raises(wc.Error) as caught:
        wc.reproduce("salehi-1994", figure=99)
    assert caught.value.field == "figure" and "12" in str(caught.value)
    with pytest.raises(wc.Error, match="`precision` is given"):
        wc.reproduce("falsafi-1998", precision=0.1)


def test_ctrl_c_ends_a_calibration() -> None:
    program = """
        import warmcore as wc
        try:
            wc.calibrate(progress=lambda stage, done: print("measuring", flush=True))
        except KeyboardInterrupt:
            print("interrupted", flush=True)
    """
    child = subprocess.Popen([sys.executable, "-c", textwrap.dedent(program)], stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout is not None
        assert child.stdout.readline() == "measuring\n"
        child.send_signal(signal.SIGINT)
        assert child.communicate(timeout=10)[0].endswith("interrupted\n")
    finally:
        child.kill()


@pytest.mark.skipif("WARMCORE_LONG" not in os.environ, reason="takes half a minute: set WARMCORE_LONG")
def test_a_calibration_measures_this_machine() -> None:
    profile = wc.calibrate(budget_s=(1.0, 0.5))
    assert profile.provenance["kind"] == "measured"
    time = profile.time("A1")
    assert time.mean > 0 and time.half_width is not None


def test_what_progress_raises_reaches_its_caller() -> None:
    def stop(stage: str, done: float) -> None:
        raise LookupError(stage)

    with pytest.raises(LookupError):
        wc.calibrate(progress=stop)
