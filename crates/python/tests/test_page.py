"""The examples of the book's page run as they stand, and print what it says."""

from __future__ import annotations

import contextlib
import io
import pathlib
import re

import pytest
import warmcore as wc

PAGE = pathlib.Path(__file__).parents[3] / "docs/src/python.md"


def test_the_examples_of_the_page_run_and_print_what_it_says(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    assert len(blocks) == 5
    monkeypatch.chdir(tmp_path)
    # Measuring takes a minute, and a machine that is left alone.
    monkeypatch.setattr(wc, "calibrate", lambda **_: wc.Profile.sgi_challenge_xl())
    names: dict[str, object] = {}
    printed = io.StringIO()
    for block in blocks:
        with contextlib.redirect_stdout(printed):
            exec(compile(block, PAGE, "exec"), names)
    assert printed.getvalue().splitlines() == re.findall(r"^print\(.*\) +# (.+)$", "".join(blocks), re.M) != []
