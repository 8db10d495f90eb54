"""Documents as objects: what a scenario and its parts have in common.

The fields, their types and their descriptions come from the Rust sources (``generate.py``), their defaults and checks from the
Rust code when an object is made. So an object always is a complete and checked document.
"""

from __future__ import annotations

import difflib
import inspect
import json
import keyword
import math
import os
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, NoReturn, TypeVar

from . import _native
from ._fields import fields_table, put
from .errors import ArgumentError, ScenarioError, encodable, instance, refused

D = TypeVar("D", bound="Document")

#: Classes of parts by name, for fields that hold one.
PARTS: dict[str, type[Part]] = {}


class Document:
    """A table of named fields that never changes. Two are equal if all their fields are."""

    #: Fields that hold a part, with its class's name.
    _parts: ClassVar[Mapping[str, str]] = {}
    #: Fields that hold a list of parts.
    _lists: ClassVar[Mapping[str, str]] = {}
    #: All fields, in the document's order.
    _names: ClassVar[tuple[str, ...]] = ()
    #: What fields hold that a document leaves out while they are at their defaults.
    _left_out: ClassVar[Mapping[str, Any]] = {}

    _fields: dict[str, Any]

    def __init_subclass__(cls) -> None:
        if not cls._names:
            return
        # What help() shows: the constructor takes any name, so that the reader of the document says which are wrong.
        taken = [
            inspect.Parameter(
                name, inspect.Parameter.KEYWORD_ONLY, default=_Default(cls, name), annotation=_annotation(cls, name)
            )
            for name in cls._names
            if not keyword.iskeyword(name)
        ]
        cls.__signature__ = inspect.Signature(taken)  # type: ignore[attr-defined]
        cls.__doc__ = f"{inspect.cleandoc(cls.__doc__ or '')}\n\nArgs:\n" + "\n".join(
            f"    {name} (default {_Default(cls, name)!r}): {_first_line(cls, name)}" for name in cls._names
        )

    def __init__(self, *unnamed: Any, **fields: Any) -> None:
        if unnamed:
            expected = f"fields by name, such as {self._names[0]}=…" if self._names else "fields by name"
            raise refused(ArgumentError, type(self).__name__, f"given {ascii(unnamed[0])} without a name", expected)
        for name in fields:
            encodable(name, ascii(name)[1:-1])
        given = {name: plain(value, name) for name, value in fields.items() if value is not None}
        object.__setattr__(self, "_fields", json.loads(self._completed(json.dumps(given))))

    @classmethod
    def _completed(cls, document: str) -> str:
        raise NotImplementedError

    @classmethod
    def from_dict(cls: type[D], fields: Mapping[str, Any]) -> D:
        """The object with these fields, which may be nested dictionaries; all others are at their defaults.

        Raises:
            ScenarioError: A field is unknown, or its value cannot be used.
        """
        instance(fields, Mapping, "fields", "a mapping of names to values")
        return cls(**{str(name): value for name, value in fields.items()})

    def to_dict(self) -> dict[str, Any]:
        """The fields as nested dictionaries of plain values."""
        copied: dict[str, Any] = json.loads(json.dumps(self._fields))
        return copied

    def replace(self: D, fields: Mapping[str, Any] | None = None, /, **more: Any) -> D:
        """The same document with other values in these fields.

        Fields of parts are named by their dotted path in a mapping:
        ``scenario.replace({"traffic.streams": 100}, seed=2)``. ``None`` puts a field back to its default.

        Raises:
            ScenarioError: A field is unknown, or its value cannot be used.
        """
        if fields is not None:
            instance(fields, Mapping, "fields", "a mapping of paths to values")
        changed = self.to_dict()
        for path, value in {**(fields or {}), **more}.items():
            put(changed, path, None if value is None else plain(value, str(path)))
        return type(self).from_dict(changed)

    def _get(self, name: str) -> Any:
        value = self._fields.get(name)
        if value is None:
            value = self._left_out.get(name)
        if name in self._parts and value == {}:
            return PARTS[self._parts[name]]()
        if name in self._parts and value is not None:
            return PARTS[self._parts[name]]._from_complete(value)
        if name in self._lists and value is not None:
            return tuple(PARTS[self._lists[name]]._from_complete(one) for one in value)
        return _frozen(value)

    @classmethod
    def _from_complete(cls: type[D], fields: dict[str, Any]) -> D:
        made = object.__new__(cls)
        object.__setattr__(made, "_fields", fields)
        return made

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{type(self).__name__} never changes: use .replace({name}=…)")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} never changes: use .replace({name}=None)")

    def __getattr__(self, name: str) -> Any:
        near = difflib.get_close_matches(name, self._names, 1)
        hint = f"; did you mean `{near[0]}`?" if near else ""
        raise AttributeError(f"{type(self).__name__} has no field `{name}`{hint}")

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return self._fields == other._fields

    def __hash__(self) -> int:
        return hash((type(self).__name__, json.dumps(self._fields, sort_keys=True)))

    def __reduce__(self) -> tuple[Any, ...]:
        return (_restored, (type(self), self._fields))

    def __dir__(self) -> Iterable[str]:
        return sorted({*super().__dir__(), *self._names})

    def _shown(self) -> dict[str, Any]:
        """The fields that are not at their defaults; those of a part that has no defaults, all."""
        default = _default(type(self))
        return {name: value for name, value in self._fields.items() if name not in default or value != default[name]}

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={self._get(name)!r}" for name in self._shown())
        return f"{type(self).__name__}({fields})"

    def _repr_html_(self) -> str:
        return fields_table(type(self).__name__, self._fields, _default(type(self)))


class Part(Document):
    """A part of a scenario."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        PARTS[cls.__name__] = cls

    @classmethod
    def _completed(cls, document: str) -> str:
        return _native.part(cls.__name__, document)


S = TypeVar("S", bound="Scenario")


class Scenario(Document):
    """What is simulated: a :class:`PacketScenario`, a :class:`RunQueueScenario` or a :class:`ClusterScenario`."""

    #: The kind of scenario: ``"packet"``, ``"run-queue"`` or ``"cluster"``.
    kind: ClassVar[str] = ""

    @classmethod
    def _completed(cls, document: str) -> str:
        if not cls.kind:
            raise TypeError("a Scenario is a PacketScenario, a RunQueueScenario or a ClusterScenario")
        return _native.scenario(cls.kind, document)

    @classmethod
    def from_toml(cls: type[S], source: str | os.PathLike[str]) -> S:
        """Reads a scenario, as ``warmcore simulate --scenario`` does.

        Args:
            source: The path of a file; or the TOML itself: a text with a line end or an ``=``, or an empty one. Files that it
                names are relative to its folder. ``Scenario.from_toml`` finds by the tables what kind it is.

        Raises:
            ScenarioError: It cannot be read, or it is no such scenario; the message names file, line and field.
        """
        instance(source, (str, bytes, os.PathLike), "source", "a path, or a text in TOML")
        is_text = isinstance(source, str) and (not source or "\n" in source or "=" in source)
        text, path = (plain(source, "source"), None) if is_text else (None, os.fsdecode(source))
        kind, document = _native.of_toml(cls.kind or None, text, path)
        made = _KINDS[kind]._from_complete(json.loads(document))
        return made  # type: ignore[return-value]

    def to_toml(self) -> str:
        """The scenario as TOML, which ``from_toml`` and the command line read."""
        return _native.to_toml(self.kind, self._json())

    def _json(self) -> str:
        return json.dumps(self._fields)

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        _KINDS[cls.kind] = cls


_KINDS: dict[str, type[Scenario]] = {}
_DEFAULTS: dict[type[Document], dict[str, Any]] = {}


def scenario_of(kind: str, document: str) -> Scenario:
    """The scenario of this kind in a JSON document, checked."""
    return _KINDS[kind]._from_complete(json.loads(_native.scenario(kind, document)))


def plain(value: Any, path: str) -> Any:
    """``value`` as JSON has it. ``path`` names it if that cannot be."""
    if isinstance(value, Document):
        return value._fields
    if isinstance(value, str):
        encodable(value, path)
        return str(value)
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise refused(ScenarioError, path, value, "a finite number")
        return value
    if isinstance(value, os.PathLike):
        return plain(os.fsdecode(value), path)
    if isinstance(value, Mapping):
        for key in value:
            encodable(str(key), f"{path}.{ascii(str(key))[1:-1]}")
        return {str(key): plain(one, f"{path}.{key}") for key, one in value.items() if one is not None}
    # A number of numpy's, or an array.
    if hasattr(value, "tolist"):
        return plain(value.tolist(), path)
    if isinstance(value, Iterable) and not isinstance(value, (bytes, bytearray)):
        return [plain(one, f"{path}.{index}") for index, one in enumerate(value)]
    raise refused(
        ScenarioError, path, f"of type {type(value).__name__}", "a number, a text, true or false, a list or a table"
    )


class _Default:
    """The default of a field, as help() shows it."""

    def __init__(self, kind: type[Document], name: str) -> None:
        value = _default(kind).get(name, kind._left_out.get(name))
        part = kind._parts.get(name) or kind._lists.get(name)
        self._text = f"{kind._parts[name]}()" if name in kind._parts and isinstance(value, dict) else repr(value)
        if part is None and isinstance(value, list):
            self._text = repr(tuple(value))

    def __repr__(self) -> str:
        return self._text


class FrozenTable(dict[str, Any]):
    """A table of a document, which never changes either."""

    def _refuse(self, *given: object, **named: object) -> NoReturn:
        raise AttributeError("a scenario never changes: use .replace({'path.of.the.field': …})")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return (dict, (dict(self),))


def _first_line(kind: type[Document], name: str) -> str:
    """The first sentence of a field's description, with its unit."""
    field = getattr(kind, name, None) or getattr(kind, f"{name}_", None)
    return (inspect.getdoc(field) or "A field of the document.").split("\n\n")[0].replace("\n", " ")


def _annotation(kind: type[Document], name: str) -> Any:
    field = getattr(kind, name, None) or getattr(kind, f"{name}_", None)
    return getattr(getattr(field, "fget", None), "__annotations__", {}).get("return", inspect.Parameter.empty)


def _frozen(value: Any) -> Any:
    if isinstance(value, dict):
        return FrozenTable({name: _frozen(one) for name, one in value.items()})
    return tuple(_frozen(one) for one in value) if isinstance(value, list) else value


def _default(kind: type[Document]) -> dict[str, Any]:
    if kind not in _DEFAULTS:
        try:
            _DEFAULTS[kind] = json.loads(kind._completed("{}"))
        except ScenarioError:  # It cannot be without some fields.
            _DEFAULTS[kind] = {}
    return _DEFAULTS[kind]


def _restored(kind: type[Document], fields: dict[str, Any]) -> Document:
    return kind._from_complete(fields)
