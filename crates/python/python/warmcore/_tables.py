"""How tables are shown, and handed to other libraries."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ._optional import optional

if TYPE_CHECKING:
    import pandas
    import polars

    from ._native import Table

#: Rows of a table that are shown.
SHOWN = 10
_LEFT = '<td style="text-align:left">'


class Tabular:
    """Something with a table, which any library reads without copying that takes Arrow's C stream."""

    def _rows(self) -> Any:
        """The table, of this package or of pyarrow."""
        raise NotImplementedError

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Arrow's C stream of the table."""
        return self._rows().__arrow_c_stream__(requested_schema)

    def to_pandas(self) -> pandas.DataFrame:
        """The table as a pandas data frame. Needs ``warmcore[pandas]``."""
        return to_pandas(self._rows())

    def to_polars(self) -> polars.DataFrame:
        """The table as a polars data frame. Needs ``warmcore[polars]``."""
        return to_polars(self._rows())


def to_pandas(table: object) -> pandas.DataFrame:
    """A table of warmcore as a pandas data frame; it is handed over by column, not by row."""
    optional("pandas", "pandas")
    pyarrow = optional("pyarrow", "pandas")
    frame: pandas.DataFrame = pyarrow.table(table).to_pandas()
    return frame


def to_polars(table: object) -> polars.DataFrame:
    """A table of warmcore as a polars data frame, without copying."""
    frame: polars.DataFrame = optional("polars", "polars").DataFrame(table)
    return frame


def html_table(caption: str, rows: Iterable[Sequence[str]], heads: Iterable[str] = (), *, texts: int = 0) -> str:
    """A table for a notebook, below a ``caption`` that is HTML already. The first ``texts`` columns are aligned as texts."""
    head = "".join(f"<th>{html.escape(name)}</th>" for name in heads)
    lines = [f"<tr>{head}</tr>"] if head else []
    for row in rows:
        cells = [f"{_LEFT if place < texts else '<td>'}{html.escape(cell)}</td>" for place, cell in enumerate(row)]
        lines.append(f"<tr>{''.join(cells)}</tr>")
    return f'<table class="warmcore"><caption>{caption}</caption>{"".join(lines)}</table>'


def table_text(table: Table) -> str:
    """How a table is shown: its columns with their units, and the first of its rows."""
    heads, rows, size = _shown(table)
    if len(heads) > 12:
        return f"<Table of {size}: {', '.join(heads)}>"
    widths = [max(len(line[place]) for line in [heads, *rows]) for place in range(len(heads))]
    lines = ["  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) for line in [heads, *rows]]
    more = ["…"] if len(table) > SHOWN else []
    return "\n".join([f"<Table of {size}>", *lines, *more])


def table_html(table: Table) -> str:
    """The same for notebooks."""
    heads, rows, size = _shown(table)
    return html_table(size + (f"; the first {SHOWN}" if len(table) > SHOWN else ""), rows, heads)


def _shown(table: Table) -> tuple[list[str], list[list[str]], str]:
    """The heads of the columns with their units, the first rows as texts, and the table's size."""
    units = table.units
    heads = [f"{name} ({units[name]})" if units.get(name) else name for name in table.column_names]
    rows = [table.row(index) for index in range(min(len(table), SHOWN))]
    cells = [[_cell_text(row[name]) for name in table.column_names] for row in rows]
    return heads, cells, f"{len(table)} rows, {len(heads)} columns"


def _cell_text(value: Any) -> str:
    return "–" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)
