"""What a finished sweep is: a data set of Parquet files, checked against its manifest."""

from __future__ import annotations

import html
import json
import os
import pathlib
from typing import TYPE_CHECKING, Any

from .. import _native
from .._document import plain
from .._optional import optional
from .._tables import Tabular, html_table
from ..errors import instance
from .drawing import plot
from .engine import Times

if TYPE_CHECKING:
    import pyarrow  # type: ignore[import-untyped]
    import pyarrow.dataset  # type: ignore[import-untyped]
    from matplotlib.figure import Figure

    from .grid import Grid

_TYPES = {"float": "float64", "integer": "int64", "text": "string", "flag": "bool_"}


class Sweep(Tabular):
    """A finished sweep: a row for each point of its grid.

    The columns are the fields that were varied, then the figures with their half-widths; units are in the metadata of the
    columns. Tools that read Parquet read the files, and not the two others of the folder: polars by
    ``pl.read_parquet("folder/**/*.parquet")``; with ``hive_partitioning=True`` it has the column of a partition too.
    """

    #: What sweeping took; ``None`` of a data set that was opened.
    times: Times | None

    def __init__(self, path: str | os.PathLike[str], times: Times | None = None) -> None:
        instance(path, (str, os.PathLike), "path", "the path of a folder")
        self.times = times
        self._path = pathlib.Path(plain(path, "path"))
        self._manifest: dict[str, Any] = json.loads(_native.manifest(str(self._path)))

    @property
    def path(self) -> pathlib.Path:
        """The folder."""
        return self._path

    @property
    def manifest(self) -> dict[str, Any]:
        """What the data set says of itself: version, grid, columns with their units, files with their checksums."""
        return json.loads(json.dumps(self._manifest))  # type: ignore[no-any-return]

    @property
    def grid(self) -> Grid:
        """The grid."""
        from .grid import Grid

        return Grid.from_toml(self._path / "_grid.toml")

    @property
    def units(self) -> dict[str, str]:
        """The unit of each column that has one."""
        return {column["name"]: column["unit"] for column in self._manifest["columns"] if column["unit"]}

    def __len__(self) -> int:
        return int(self._manifest["rows"])

    @property
    def dataset(self) -> pyarrow.dataset.Dataset:
        """The files as a data set of PyArrow, from which filters read only what they need."""
        arrow, dataset = optional("pyarrow", "pandas"), optional("pyarrow.dataset", "pandas")
        by = self._manifest["partition_by"]
        partitioning = None
        if by is not None:
            partitioning = dataset.partitioning(arrow.schema([self._field(by)]), flavor="hive")
        files = [str(self._path / part["file"]) for part in self._manifest["parts"]]
        # Files have the units and half-widths of their columns themselves.
        of_files = optional("pyarrow.parquet", "pandas").read_schema(files[0])
        names = [column["name"] for column in self._manifest["columns"]]
        schema = arrow.schema([self._field(name) if name == by else of_files.field(name) for name in names])
        return dataset.dataset(
            files, schema=schema, format="parquet", partitioning=partitioning, partition_base_dir=str(self._path)
        )

    def _field(self, name: str) -> pyarrow.Field:
        """The field of a column that is the name of folders, as those of columns in files are."""
        arrow = optional("pyarrow", "pandas")
        column = next(column for column in self._manifest["columns"] if column["name"] == name)
        return arrow.field(name, getattr(arrow, _TYPES[column["kind"]])(), metadata={"unit": column["unit"]} if column["unit"] else None)

    def to_arrow(self) -> pyarrow.Table:
        """All rows as an Arrow table, file after file: in the grid's order, within each folder of a partition."""
        return self.dataset.to_table()

    def _rows(self) -> pyarrow.Table:
        return self.to_arrow()

    def plot(self, x: str, y: str = "mean_delay", *, by: str | None = None, ax: Any = None) -> Figure:
        """Draws a figure against a varied field, half-widths as bars, in the style of the report. Needs ``warmcore[plot]``.

        >>> swept.plot("load", "mean_delay", by="scheduling.policy")

        Points without the figure, such as the delay of a saturated host, are left out. Points that only differ in other fields,
        such as the seed, are marks without a line.

        Args:
            x: The name of a column; each of its values has a place of its own if they are no numbers.
            y: The name of a column of numbers.
            by: The name of a column: a line for each of its values.
            ax: Axes to draw into; a figure of its own otherwise.

        Raises:
            Error: The data set has no such column; the message names the nearest.
        """
        return plot(self, x, y, by, ax)

    def __repr__(self) -> str:
        return f"<Sweep of {len(self):,} points in {self._path}>"

    def _repr_html_(self) -> str:
        rows = [(column["name"], column["unit"]) for column in self._manifest["columns"]]
        caption = f"{len(self):,} points in <code>{html.escape(str(self._path))}</code>"
        return html_table(caption, rows, ("column", "unit"), texts=2)


def open_dataset(path: str | os.PathLike[str]) -> Sweep:
    """The finished sweep in a folder, whose files are all there and as they were written.

    Raises:
        DataSetError: There is none, it is not finished, was written in another version's form, or a file is damaged.
    """
    return Sweep(path)
