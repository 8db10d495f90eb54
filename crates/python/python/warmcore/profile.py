"""Profiles: what packets cost on a machine."""

from __future__ import annotations

import html
import json
import os
from typing import Any

from . import _native
from ._tables import html_table
from .errors import instance
from .result import Estimate

__all__ = ["Profile"]


def document_of(profile: Profile | None) -> str | None:
    """The TOML of a profile, if one is given.

    Raises:
        ArgumentError: It is no profile.
    """
    if profile is None:
        return None
    instance(profile, Profile, "profile", "a wc.Profile, such as wc.Profile.load(path)")
    return profile.to_toml()


class Profile:
    """What processing a packet costs on one machine: measured, or published.

    Sources: Salehi, Kurose & Towsley 1994, §5 (times) and §4.2 (displacement). ``warmcore calibrate``, or
    :func:`warmcore.calibrate`, measures one.
    """

    def __init__(self, document: str) -> None:
        self._document = document
        self._fields: dict[str, Any] = json.loads(document)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Profile:
        """Reads and checks a profile, such as ``profile.toml`` of ``warmcore calibrate``.

        Raises:
            ProfileError: It cannot be read, or is no such profile; the message names file, line and field.
        """
        instance(path, (str, bytes, os.PathLike), "path", "a path")
        return cls(_native.profile(os.fsdecode(path)))

    @classmethod
    def sgi_challenge_xl(cls) -> Profile:
        """The machine of Salehi, Kurose & Towsley 1994: an SGI Challenge XL with processors of 100 MHz."""
        return cls(_native.profile(None))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the profile as TOML, which the command line reads.

        Raises:
            FileExistsError: The file is there already.
        """
        with open(path, "x", encoding="utf-8") as file:
            file.write(self.to_toml())

    def to_toml(self) -> str:
        """The profile as TOML."""
        return _native.profile_toml(self._document)

    def to_dict(self) -> dict[str, Any]:
        """All fields as nested dictionaries; times in ns."""
        copied: dict[str, Any] = json.loads(self._document)
        return copied

    @property
    def name(self) -> str:
        """The machine's name."""
        name: str = self._fields["name"]
        return name

    @property
    def provenance(self) -> dict[str, Any]:
        """Where the figures come from: ``kind`` (``"measured"`` or ``"published"``), ``date``, and more."""
        provenance: dict[str, Any] = self.to_dict()["provenance"]
        return provenance

    @property
    def levels(self) -> list[dict[str, Any]]:
        """The cache levels of a processor, nearest first: ``name``, ``geometry`` (bytes), ``shared_by``."""
        levels: list[dict[str, Any]] = self.to_dict()["levels"]
        return levels

    def time(self, experiment: str, *, approach: str = "locking", cold: int = 0, migrates: bool = False) -> Estimate:
        """How long receiving a packet takes, in ns.

        Args:
            experiment: What the packet finds written on its processor: ``"A1"`` to ``"B3"`` (Table 2 of Salehi 1994).
            approach: ``"locking"`` or ``"independent-stacks"``.
            cold: Up to which cache level the rest is flushed; 0 is none.
            migrates: Whether the thread's stack was last used elsewhere.

        Raises:
            KeyError: The profile has no such time.
        """
        times = self._fields["times"][approach]["migrates" if migrates else "cached"][experiment]
        if cold > len(times["cold"]):
            raise KeyError(f"cold={cold}: the times of {experiment} go up to {len(times['cold'])}")
        measured = times["cold"][cold - 1] if cold else times["hot"]
        return Estimate(measured["mean"], measured.get("half_width"), "ns")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Profile) and self._fields == other._fields

    def __hash__(self) -> int:
        return hash(self._document)

    def __repr__(self) -> str:
        provenance = self._fields["provenance"]
        return f"<Profile of {self.name}, {provenance['kind']} {provenance['date']}>"

    def _repr_html_(self) -> str:
        rows = [
            [f"{approach}, {experiment}", *(str(self.time(experiment, approach=approach, cold=cold)) for cold in range(levels + 1))]
            for approach, times in self._fields["times"].items()
            for experiment, one in times["cached"].items()
            for levels in [len(one["cold"])]
        ]
        return html_table(f"<b>{html.escape(repr(self)[1:-1])}</b>", rows, ("", "hot", *self._columns()), texts=1)

    def _columns(self) -> list[str]:
        return [f"cold {level['name']}" for level in self._fields["levels"][:-1]]

    def __reduce__(self) -> tuple[Any, ...]:
        return (Profile, (self._document,))
