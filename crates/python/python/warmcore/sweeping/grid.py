"""What is varied: a base scenario and the values of its fields."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Set
from typing import Any

from .. import _native
from .._document import Scenario, plain
from ..errors import ArgumentError, ScenarioError, encodable, instance, refused

#: A field by its dotted path, or several that vary together.
Field = str | tuple[str, ...]

#: The names of the models in a grid, by the kind of scenario.
_MODELS = {"packet": "packet", "run-queue": "runqueue", "cluster": "cluster"}


class Grid:
    """Every combination of some fields' values, around one scenario.

    >>> grid = wc.Grid(wc.PacketScenario(), {"traffic.streams": [8, 64], "load": [0.3, 0.6, 0.9], "seed": range(1, 11)})
    >>> len(grid)
    60

    Points are in the order of an odometer: the last axis changes fastest. ``load`` is a fraction of what each combination of the
    other fields keeps up with. Every point is checked here, before anything runs.

    Args:
        scenario: What all points have in common; a :class:`Scenario`, or its fields.
        axes: The values of each field, by the field's dotted path. Fields that vary together are a tuple, and their values
            tuples: ``{("processors", "stacks"): [(4, 4), (8, 8)]}``. Whole numbers are below 2^63, as TOML has them; no field is
            within another's.
        model: ``"packet"``, ``"run-queue"`` or ``"cluster"``, if ``scenario`` is a mapping.

    Raises:
        ScenarioError: A field is unknown, or a value cannot be used; the message names the nearest field and the point.
        ProfileError: A profile cannot be read.
        KeyboardInterrupt: Ctrl-C, while points are checked.
    """

    def __init__(
        self,
        scenario: Scenario | Mapping[str, Any],
        axes: Mapping[Field, Iterable[Any]],
        *,
        model: str = "packet",
    ) -> None:
        instance(axes, Mapping, "axes", "a mapping of fields to their values")
        instance(scenario, (Scenario, Mapping), "scenario", "a scenario, or a mapping of its fields")
        if model not in _MODELS:
            raise refused(ScenarioError, "model", repr(model), " or ".join(f'"{name}"' for name in _MODELS))
        kind = scenario.kind if isinstance(scenario, Scenario) else model
        fields = _given(plain(scenario, "scenario"))
        along = [(_names(field), _values(field, values)) for field, values in axes.items()]
        self._plan = _native.Plan.along(_MODELS[kind], json.dumps(fields), along)

    @classmethod
    def from_toml(cls, source: str | os.PathLike[str]) -> Grid:
        """The grid in a file, or in a TOML text with a line end, as ``warmcore sweep grid`` reads it.

        Raises:
            ScenarioError: It cannot be read, or a point is impossible; the message names file, line and field.
        """
        instance(source, (str, os.PathLike), "source", "a path, or a text in TOML with a line end")
        made = object.__new__(cls)
        path = plain(source, "source")
        is_text = isinstance(source, str) and "\n" in source
        made._plan = _native.Plan(text=path) if is_text else _native.Plan(path=path)
        return made

    def to_toml(self) -> str:
        """The grid's document, with every value listed and every profile that it names: it means the same everywhere."""
        return self._plan.text

    @property
    def identity(self) -> str:
        """The checksum of the document: 32 hexadecimal digits."""
        return self._plan.identity

    @property
    def fields(self) -> list[str]:
        """The fields that are varied, the slowest first."""
        return self._plan.fields

    def __len__(self) -> int:
        return len(self._plan)

    def point(self, index: int) -> str:
        """The point of this index, from 0, by what is varied: ``traffic.streams = 8, seed = 1``."""
        return self._plan.point(_within(index, len(self)))

    def scenario(self, index: int) -> Scenario:
        """The scenario of the point of this index, from 0. With a load it has no rate."""
        return Scenario.from_toml(self._plan.scenario(_within(index, len(self))) + "\n")

    def __reduce__(self) -> tuple[Any, ...]:
        return (_restored, (self.to_toml(),))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Grid) and self.identity == other.identity

    def __hash__(self) -> int:
        return hash(self.identity)

    def __repr__(self) -> str:
        return f"<Grid of {len(self):,} points along {', '.join(self.fields) or 'nothing'}>"


def _names(field: Field) -> list[str]:
    """The fields of an axis."""
    names = [field] if isinstance(field, str) else list(field) if isinstance(field, tuple) else []
    if not names or not all(isinstance(name, str) for name in names):
        raise refused(ArgumentError, "axes", f"given along {field!r}", "the dotted path of a field, or a tuple of several")
    for name in names:
        encodable(name, ascii(name)[1:-1])
    return names


def _values(field: Field, values: Iterable[Any]) -> str:
    """The values of an axis as a JSON list."""
    name = ", ".join(_names(field))
    # What has no order would be another grid each time.
    if isinstance(values, (str, bytes, Mapping, Set)) or not isinstance(values, Iterable):
        raise refused(ArgumentError, name, f"given {values!r}", "a list of values")
    listed = plain(list(values), name)
    one_each = isinstance(field, tuple) and len(field) == 1
    return json.dumps([row[0] if isinstance(row, list) and len(row) == 1 else row for row in listed] if one_each else listed)


def _given(value: Any) -> Any:
    """``value`` without the fields that nothing is given for: TOML has no null."""
    if isinstance(value, Mapping):
        return {name: _given(one) for name, one in value.items() if one is not None}
    return [_given(one) for one in value] if isinstance(value, list) else value


def _within(index: int, length: int) -> int:
    if not -length <= index < length:
        raise IndexError(f"point {index} of {length}")
    return index % length


def _restored(text: str) -> Grid:
    return Grid.from_toml(text)
