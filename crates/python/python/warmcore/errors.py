"""The exceptions of warmcore: one small family.

All but interruptions are :class:`Error`, which is a ``ValueError``. Ctrl-C raises ``KeyboardInterrupt``, as everywhere.
"""

from __future__ import annotations

import difflib
import math
import operator
from collections.abc import Iterable
from typing import TypeVar

__all__ = [
    "ArgumentError",
    "DataSetError",
    "Error",
    "ProfileError",
    "ScenarioError",
    "SchedulerError",
    "SweepError",
    "TrafficError",
]


class Error(ValueError):
    """Something that was given cannot be used.

    Attributes:
        field: Dotted path of the field at fault, such as ``"traffic.streams"``; ``None`` if it is the whole.
        found: What was found there, as text.
        expected: What would have been right, as text.
    """

    field: str | None
    found: str | None
    expected: str | None

    def __init__(
        self,
        message: str,
        *,
        field: str | None = None,
        found: str | None = None,
        expected: str | None = None,
    ) -> None:
        super().__init__(message)
        self.field = field
        self.found = found
        self.expected = expected

    def __reduce__(self) -> tuple[object, ...]:
        # Errors cross processes in a sweep, with their field.
        return (_restored, (type(self), str(self), self.field, self.found, self.expected))


E = TypeVar("E", bound=Error)


class ArgumentError(Error, TypeError):
    """An argument is of another type than the function takes. It is a ``TypeError`` too."""


class ScenarioError(Error):
    """A scenario has an unknown field, a value of the wrong type, or one that cannot be."""


class ProfileError(Error):
    """A machine's profile cannot be used, or lacks costs that a scenario needs."""


class TrafficError(Error):
    """What arrives cannot be generated, or a capture cannot be read."""


class SweepError(Error):
    """A sweep cannot be made, or not be finished. What was finished is kept."""


class DataSetError(SweepError):
    """A folder has no data set, an unfinished or damaged one, or that of another grid or version."""


class SchedulerError(SweepError):
    """A Dask scheduler does not answer, is gone, or its workers cannot be used."""


def refused(kind: type[E], field: str, found: object, expected: str) -> E:
    """The error of ``kind`` about a field."""
    return kind(f"`{field}` is {found}, expected {expected}", field=field, found=str(found), expected=expected)


def instance(value: object, kind: type | tuple[type, ...], field: str, expected: str) -> None:
    """Refuses what is no ``kind``.

    Raises:
        ArgumentError: It is none.
    """
    if not isinstance(value, kind):
        raise refused(ArgumentError, field, f"of type {type(value).__name__}", expected)


def known(name: object, names: Iterable[str], field: str, expected: str) -> None:
    """Refuses a ``name`` that is none of ``names``; the message has the nearest.

    Raises:
        ArgumentError: It is no text.
        ScenarioError: There is none of this name.
    """
    instance(name, str, field, expected)
    names = list(names)
    if name not in names:
        near = difflib.get_close_matches(str(name), names, 1)
        hint = f"; did you mean {near[0]!r}?" if near else f": {', '.join(map(repr, names))}" if names else ""
        raise refused(ScenarioError, field, ascii(name), f"{expected}{hint}")


def encodable(name: str, field: str) -> None:
    """Refuses a text that no document can have: one with half a character.

    Raises:
        ScenarioError: It is such a text.
    """
    try:
        name.encode()
    except UnicodeEncodeError:
        raise refused(ScenarioError, field, ascii(name), "a text of Unicode") from None


def flag(value: object, field: str, expected: str) -> bool:
    """``value`` as true or false, which numpy's are too.

    Raises:
        ArgumentError: It is neither.
    """
    kind = type(value)
    if not (isinstance(value, bool) or (kind.__module__ == "numpy" and kind.__name__ in ("bool", "bool_"))):
        raise refused(ArgumentError, field, f"of type {kind.__name__}", expected)
    return bool(value)


def number(value: object, field: str, expected: str, *, least: float = -math.inf) -> float:
    """``value`` as a finite number, which numpy's are too.

    Raises:
        Error: It is none, or below ``least``.
    """
    try:
        found = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        raise refused(ArgumentError, field, f"of type {type(value).__name__}", expected) from None
    if isinstance(value, (str, bytes)):
        raise refused(ArgumentError, field, f"of type {type(value).__name__}", expected)
    if not math.isfinite(found) or found < least:
        raise refused(ScenarioError, field, found, expected)
    return found


def whole(value: object, field: str, expected: str, *, least: int = 0, most: int = (1 << 63) - 1) -> int:
    """``value`` as a whole number, which numpy's are too.

    Raises:
        Error: It is none, or not from ``least`` to ``most``.
    """
    try:
        found = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise refused(ArgumentError, field, f"of type {type(value).__name__}", expected) from None
    if not least <= found <= most:
        raise refused(ScenarioError, field, found, expected)
    return found


def _restored(
    kind: type[Error], message: str, field: str | None, found: str | None, expected: str | None
) -> Error:
    return kind(message, field=field, found=found, expected=expected)
