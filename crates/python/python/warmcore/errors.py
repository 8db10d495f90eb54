"""The exceptions of warmcore: one small family.

All but interruptions are :class:`Error`, which is a ``ValueError``. Ctrl-C raises ``KeyboardInterrupt``, as everywhere.
"""

from __future__ import annotations

__all__ = [
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


def _restored(
    kind: type[Error], message: str, field: str | None, found: str | None, expected: str | None
) -> Error:
    return kind(message, field=field, found=found, expected=expected)
