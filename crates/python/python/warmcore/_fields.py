"""The fields of a document as nested dictionaries: by their dotted paths, and as a table in HTML."""

from __future__ import annotations

import html
import json
from collections.abc import Iterable, Mapping
from typing import Any

from .errors import ScenarioError, instance, refused


def put(fields: dict[str, Any], path: str, value: Any) -> None:
    """Puts the plain ``value`` where a dotted ``path`` leads; ``None`` removes what is there.

    Raises:
        Error: It is no path, or leads nowhere.
    """
    instance(path, str, repr(path), "the dotted path of a field")
    *tables, last = path.split(".")
    node: Any = fields
    for table in tables:
        node = node[_place(node, table, path)] if isinstance(node, list) else node.setdefault(table, {})
        if not isinstance(node, (dict, list)):
            raise refused(ScenarioError, path, f"within `{table}`, which is no table", "a field")
    if isinstance(node, list):
        node[_place(node, last, path)] = value
    elif value is None:
        node.pop(last, None)
    else:
        node[last] = value


def _place(items: list[Any], place: str, path: str) -> int:
    """The place in a list that a path names."""
    if not (place.isdecimal() and int(place) < len(items)):
        raise refused(ScenarioError, path, f"at place {place} of a list of {len(items)}", "a place of the list, from 0")
    return int(place)


def differing(fields: Mapping[str, Any], others: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """The fields of ``others`` that are not as in ``fields``, by their dotted paths; ``None`` where it has none."""
    found: dict[str, Any] = {}
    for name in dict.fromkeys([*fields, *others]):
        here, there = fields.get(name), others.get(name)
        if isinstance(here, Mapping) and isinstance(there, Mapping):
            found |= differing(here, there, f"{prefix}{name}.")
        elif here != there:
            found[f"{prefix}{name}"] = there
    return found


def fields_table(name: str, fields: Mapping[str, Any], default: Mapping[str, Any]) -> str:
    """An HTML table of ``fields``, in bold what is not as in ``default``."""
    caption = f"<b>{name}</b>, in bold what is not at its default"
    return f'<table class="warmcore"><caption>{caption}</caption>{"".join(_rows(fields, default, ""))}</table>'


def _rows(fields: Mapping[str, Any], default: Any, prefix: str) -> Iterable[str]:
    for name, value in fields.items():
        usual = default.get(name) if isinstance(default, Mapping) else None
        if isinstance(value, Mapping):
            yield from _rows(value, usual, f"{prefix}{name}.")
            continue
        shown = html.escape(value if isinstance(value, str) else json.dumps(value))
        shown = shown if value == usual else f"<b>{shown}</b>"
        yield f'<tr><td style="text-align:left">{html.escape(prefix + name)}</td><td style="text-align:left">{shown}</td></tr>'
