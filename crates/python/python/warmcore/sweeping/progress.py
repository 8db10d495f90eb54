"""How far a sweep is: a bar in a terminal or a notebook, a line every few seconds elsewhere, or a function of the caller's."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

#: Is given how many points are done, of how many, and the seconds that are left, or ``None`` while nobody can tell.
Watch = Callable[[int, int, "float | None"], None]

_WIDTH = 40
_PAUSE_S = 5.0


class Progress:
    """Shows how far a sweep is. Use it as a context."""

    def __init__(self, progress: bool | Watch, total: int) -> None:
        self._total = total
        self._watch: Watch | None = None
        self._began = time.monotonic()
        self._shown = self._began
        self._is_drawn = False
        if callable(progress):
            self._watch = progress
        elif progress:
            self._watch = self._draw if _can_redraw() else self._line

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_drawn:
            print(file=sys.stderr)

    def set(self, done: int, part: float) -> None:
        """``done`` points are finished, and ``part`` (0 to 1) of what this process had to do."""
        if self._watch is None:
            return
        elapsed = time.monotonic() - self._began
        left = elapsed * (1.0 - part) / part if part > 0.01 else None
        self._watch(done, self._total, left)

    def _draw(self, done: int, total: int, left: float | None) -> None:
        now = time.monotonic()
        if done < total and now - self._shown < 0.1:
            return
        self._shown, self._is_drawn = now, True
        full = _WIDTH * done // max(total, 1)
        print(f"\r{'█' * full}{'░' * (_WIDTH - full)} {_words(done, total, left):<40}", end="", file=sys.stderr, flush=True)

    def _line(self, done: int, total: int, left: float | None) -> None:
        now = time.monotonic()
        if now - self._shown >= _PAUSE_S:
            self._shown = now
            print(f"sweeping: {_words(done, total, left)}", file=sys.stderr, flush=True)


def _words(done: int, total: int, left: float | None) -> str:
    words = f"{done:,} of {total:,} points"
    if left is None or done == total:
        return words
    if left < 90:
        return f"{words}, {left:.0f} s left"
    return f"{words}, {left / 60:.0f} min left" if left < 5400 else f"{words}, {left / 3600:.1f} h left"


def _can_redraw() -> bool:
    return sys.stderr.isatty() or "ipykernel" in sys.modules
