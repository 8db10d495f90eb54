"""Measuring this machine."""

from __future__ import annotations

from collections.abc import Callable

from . import _native
from .profile import Profile


def calibrate(
    *,
    quick: bool = True,
    seed: int | None = None,
    budget_s: tuple[float, float] | None = None,
    progress: Callable[[str, float], object] | None = None,
) -> Profile:
    """Measures what processing a packet costs on this machine, as ``warmcore calibrate`` does.

    Leave the machine alone meanwhile: runs that others disturb are repeated, and what is left of that is said in the profile.
    Other threads of Python may run but should not; Ctrl-C ends it.

    Args:
        quick: A first look within a minute; otherwise four minutes, with narrower intervals.
        seed: The seed of the order of the runs.
        budget_s: Seconds for the experiments of Salehi 1994, §5, and for t(x), instead of the plan's.
        progress: Called with the stage and the part that is done, from 0 to 1.

    Raises:
        ProfileError: Something could not be measured here.
    """
    return Profile(_native.calibrate(quick, seed=seed, budget_s=budget_s, progress=progress))
