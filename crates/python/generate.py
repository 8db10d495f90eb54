#!/usr/bin/env python3
"""Writes python/warmcore/_scenarios.py: the classes of scenarios and of their parts, from the Rust structs that are their
documents. So a field of the Rust scenario, its type and its description need no twin that is written by hand.

    generate.py          writes the file
    generate.py --check  fails if it would change
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from keyword import iskeyword
from pathlib import Path

HERE = Path(__file__).resolve().parent
CRATES = HERE.parent
OUTPUT = HERE / "python/warmcore/_scenarios.py"
#: Where the documents are.
SOURCES = [CRATES / "scenario/src", CRATES / "workload/src", CRATES / "cachesim/src", CRATES / "units/src"]

#: The documents: class in Python, kind.
SCENARIOS = {"PacketScenario": "packet", "RunQueueScenario": "run-queue", "ClusterScenario": "cluster"}
#: Types that are no structs with these fields in a document.
PLAIN = {
    "String": "str",
    "PathBuf": "str",
    "bool": "bool",
    "f64": "float",
    "PerSecond": "float",
    "Nanos": "float",
    "Bytes": "int",
    "Cycles": "int",
    "CpuId": "int",
    "Ipv4Addr": "str",
    "ProfileSource": "str",
    "Stacks": 'int | Literal["per-processor", "per-stream"]',
}
PLAIN |= dict.fromkeys(["u8", "u16", "u32", "u64", "usize", "i32", "i64"], "int")
#: Structs whose fields' descriptions stand in others.
DESCRIBED_BY = {"Scheduler": ["UnixScheduler", "FairScheduler", "Scheduler"]}
#: What a document leaves out while it is so, and is no empty list, false or zero.
LEFT_OUT = {("Traffic", "batch"): {"mean": 1.0, "distribution": "deterministic"}}
#: What classes are, where the structs say only that they are documents.
CLASSES = {
    "PacketScenario": """Packets on the processors of one host: what arrives, which processor takes it, and what that costs.

    The model of Salehi, Kurose & Towsley 1994, with extensions. Names that end in ``_ns``, ``_us`` or ``_ms`` are times, those in
    ``_per_s`` rates; fractions are from 0 to 1. ``wc.simulate``, ``wc.observe`` and ``wc.capacity`` take it.""",
    "RunQueueScenario": """Processes in the run queues of one machine: what they do, and how its scheduler places them.

    The model of Torrellas, Tucker & Gupta 1995, and Linux's fair scheduler. Names that end in ``_us`` or ``_ms`` are times.
    ``wc.simulate`` takes it.""",
    "ClusterScenario": """A cluster of machines that run one program over a network, and where protocols run in it.

    The model of Falsafi 1998. Times are in cycles of 400 MHz. ``wc.simulate`` takes it.""",
}
#: Structs whose names would not do in Python.
RENAMED = {"Part": "MemoryPart"}
#: Fields that programs do not set.
HIDDEN = {"schema"}


@dataclass
class Field:
    name: str
    type: str
    doc: str
    attributes: str


@dataclass
class Struct:
    name: str
    doc: str
    fields: list[Field]


def texts() -> list[str]:
    return [path.read_text() for folder in SOURCES for path in sorted(folder.rglob("*.rs"))]


TEXTS = texts()


def documentation(lines: str) -> str:
    text = "\n".join(re.sub(r"^\s*///\s?", "", line) for line in lines.splitlines() if line.strip().startswith("///"))
    text = re.sub(r"\[`([^`\]]+)`\](\([^)]*\))?", r"`\1`", text)
    text = re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", text)
    return re.sub(r"`([^`]+)`", r"``\1``", text).replace("\\", "\\\\").replace('"""', "'''").strip()


def find(kind: str, name: str) -> tuple[str, str] | None:
    """What stands before the item, and its body."""
    pattern = rf"((?:^[ \t]*(?:///|#\[)[^\n]*\n)*)^pub {kind} {name} \{{\n(.*?)^\}}"
    for text in TEXTS:
        if found := re.search(pattern, text, re.M | re.S):
            return found[1], found[2]
    return None


def struct(name: str) -> Struct | None:
    found = find("struct", name)
    if not found:
        return None
    before, body = found
    fields = []
    for member in re.finditer(r"((?:^\s*(?:///|#\[)[^\n]*\n)*)^    (?:pub )?(\w+): ([^\n]+),\n", body, re.M):
        attributes = "\n".join(line for line in member[1].splitlines() if "#[" in line)
        renamed = re.search(r'rename = "([^"]+)"', attributes)
        if "serde(skip)" in attributes:
            continue
        fields.append(Field(renamed[1] if renamed else member[2], member[3], documentation(member[1]), attributes))
    return Struct(name, documentation(before), fields)


def names(enum: str) -> list[str] | None:
    """The names of the variants, if none has fields; and None if it is no such enum."""
    found = find("enum", enum)
    if not found or 'rename_all = "kebab-case"' not in found[0]:
        return None
    body = re.sub(r"^\s*///[^\n]*\n", "", found[1], flags=re.M)
    variants: list[str] = []
    rename = None
    for line in body.splitlines():
        line = line.strip()
        if given := re.search(r'serde\(.*rename = "([^"]+)"', line):
            rename = given[1]
        elif variant := re.fullmatch(r"(\w+),", line):
            kebab = re.sub(r"(?<=[a-z0-9])([A-Z])", r"-\1", variant[1]).lower()
            variants.append(rename or kebab)
            rename = None
        elif line and not line.startswith("#["):
            return None
    return variants


class Generator:
    def __init__(self) -> None:
        self.parts: dict[str, Struct] = {}

    def python(self, rust: str) -> tuple[str, str | None, str | None]:
        """The type in Python, the class of a part, and the class of the parts in a list."""
        if option := re.fullmatch(r"Option<(.+)>", rust):
            kind, part, listed = self.python(option[1])
            return f"{kind} | None", part, listed
        if vec := re.fullmatch(r"Vec<(.+)>", rust):
            kind, part, _ = self.python(vec[1])
            return f"tuple[{kind}, ...]", None, part
        name = rust.split("::")[-1]
        if name in PLAIN:
            return PLAIN[name], None, None
        if variants := names(name):
            return f"Literal[{', '.join(repr(one) for one in variants)}]".replace("'", '"'), None, None
        if found := struct(name):
            if name not in self.parts:
                self.parts[name] = found
                for field in found.fields:
                    self.python(field.type)
            name = RENAMED.get(name, name)
            return name, name, None
        return "str | Mapping[str, Any]", None, None

    def given(self, rust: str) -> str:
        """The type that a constructor takes."""
        kind, part, listed = self.python(rust)
        if listed:
            return f"Iterable[{listed} | Mapping[str, Any]]"
        if part:
            return f"{part} | Mapping[str, Any]"
        return re.sub(r"^tuple\[(.+), \.\.\.\]$", r"Iterable[\1]", kind.removesuffix(" | None"))

    def class_of(self, found: Struct, base: str, kind: str | None) -> str:
        fields = [field for field in found.fields if field.name not in HIDDEN]
        described = {}
        for other in DESCRIBED_BY.get(found.name, []):
            described |= {field.name: field.doc for field in (struct(other) or found).fields if field.doc}
        lines = [f"class {RENAMED.get(found.name, found.name)}({base}):", docstring(CLASSES.get(found.name, found.doc).replace("\n    ", "\n"), 4), ""]
        if kind:
            lines += [f'    kind: ClassVar[str] = "{kind}"']
        types = {field.name: self.python(field.type) for field in fields}
        parts = {name: part for name, (_, part, _) in types.items() if part}
        lists = {name: part for name, (_, _, part) in types.items() if part}
        left_out = {field.name: left for field in fields if (left := self.left_out(found.name, field)) is not None}
        quoted = ", ".join(f'"{name}"' for name in types)
        lines += [f"    _names = ({quoted}{',' if len(types) == 1 else ''})"]
        lines += [f"    _parts = {parts!r}".replace("'", '"')] if parts else []
        lines += [f"    _lists = {lists!r}".replace("'", '"')] if lists else []
        lines += [f"    _left_out = {left_out!r}".replace("'", '"')] if left_out else []
        # At run time, what is no field reaches the reader of the document, which names the nearest one.
        lines += ["", "    if TYPE_CHECKING:", "", "        def __init__(", "            self,", "            *,"]
        given = [field for field in fields if not iskeyword(field.name)]
        lines += [f"            {field.name}: {self.given(field.type)} | None = None," for field in given]
        lines += ["            **keywords: Any,"] if len(given) < len(fields) else []
        lines += ["        ) -> None: ..."]
        for field in fields:
            kind_of, _, _ = types[field.name]
            # What is left out and has no known default is none.
            none = "skip_serializing_if" in field.attributes and field.name not in left_out
            kind_of = kind_of if not none or kind_of.endswith("None") else f"{kind_of} | None"
            name = f"{field.name}_" if iskeyword(field.name) else field.name
            lines += ["", "    @property", f"    def {name}(self) -> {kind_of}:"]
            lines += [docstring(field.doc or described.get(field.name, ""), 8)]
            lines += [f'        return self._get("{field.name}")  # type: ignore[no-any-return]']
        return "\n".join(lines)

    @staticmethod
    def left_out(owner: str, field: Field) -> object:
        if (owner, field.name) in LEFT_OUT:
            return LEFT_OUT[owner, field.name]
        if "skip_serializing_if" not in field.attributes:
            return None
        if field.type.startswith("Vec<"):
            return []
        if struct(field.type):
            return {}
        return {"bool": False, "f64": 0.0, "u32": 0, "u16": 0}.get(field.type)

    def write(self) -> str:
        scenarios = {name: struct(name) for name in SCENARIOS}
        for found in scenarios.values():
            assert found
            for field in found.fields:
                self.python(field.type)
        classes = [self.class_of(found, "Part", None) for _, found in sorted(self.parts.items())]
        classes += [self.class_of(found, "Scenario", SCENARIOS[name]) for name, found in scenarios.items() if found]
        everything = sorted([*(RENAMED.get(name, name) for name in self.parts), *scenarios])
        listed = "".join(f'    "{name}",\n' for name in everything)
        return (
            '"""Scenarios and their parts. Written by ``generate.py`` from the Rust sources: change those.\n\n'
            "In constructors, a field that is not given, or ``None``, is at its default.\n"
            '"""\n\n'
            "from __future__ import annotations\n\n"
            "from collections.abc import Iterable, Mapping\n"
            "from typing import TYPE_CHECKING, Any, ClassVar, Literal\n\n"
            "from ._document import Part, Scenario\n\n"
            f"__all__ = [\n{listed}]\n\n\n" + "\n\n\n".join(classes) + "\n"
        )


def docstring(text: str, indent: int) -> str:
    space = " " * indent
    text = text or "A field of the document."
    lines = text.splitlines()
    if len(lines) == 1:
        return f'{space}"""{text}"""'
    return "\n".join([f'{space}"""{lines[0]}', *[f"{space}{line}".rstrip() for line in lines[1:]], f'{space}"""'])


def main() -> None:
    text = Generator().write()
    if "--check" not in sys.argv[1:]:
        OUTPUT.write_text(text)
    elif OUTPUT.read_text() != text:
        sys.exit(f"error: {OUTPUT} differs from the Rust sources: run crates/python/generate.py")


if __name__ == "__main__":
    main()
