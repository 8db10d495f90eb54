"""The stubs say what the module has, and a type checker finds a user's mistakes."""

from __future__ import annotations

import inspect
import pathlib
import pydoc
import subprocess
import sys

import warmcore as wc

HERE = pathlib.Path(__file__).parent


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", *words], capture_output=True, text=True, cwd=HERE)


def test_the_stubs_are_those_of_the_module() -> None:
    checked = run("mypy.stubtest", "warmcore._native")
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_a_users_program_passes_the_strict_checker() -> None:
    checked = run("mypy", "--strict", "sample.py")
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_a_users_mistakes_are_found() -> None:
    checked = run("mypy", "--strict", "wrong_sample.py")
    lines = {line.split(":")[1] for line in checked.stdout.splitlines() if ": error:" in line}
    assert lines == {"5", "6", "7", "8"}, checked.stdout


def test_help_reads_well() -> None:
    for name in wc.__all__:
        if name != "__version__":
            one = getattr(wc, name)
            assert (one.__doc__ or "").strip(), f"{name} has no description"
    text = pydoc.plain(pydoc.render_doc(wc.PacketScenario))
    assert "processors" in text and "The number of processors, and of protocol threads." in text
    assert "Raises" in (wc.simulate.__doc__ or "")


def test_the_first_screen_of_help_says_what_there_is() -> None:
    text = wc.__doc__ or ""
    functions = [name for name in wc.__all__ if inspect.isroutine(getattr(wc, name))]
    assert len(functions) == 12 and wc.__all__[: len(functions)] == functions
    assert all(f"``{name}``" in text for name in functions)
