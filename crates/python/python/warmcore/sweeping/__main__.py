"""``python3 -m warmcore.sweeping GRID.toml --out FOLDER --dask ADDRESS``: what ``warmcore sweep … --dask`` runs."""

from __future__ import annotations

import argparse
import json
import pathlib
import sys

from ..errors import ArgumentError, DataSetError, Error, ScenarioError
from . import Grid, Sweep, dask, sweep


def main() -> int:
    """Sweeps the grid that the command line names; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python3 -m warmcore.sweeping", description="Sweeps a grid into a data set.")
    parser.add_argument("grid", help="the grid's file, or - for standard input")
    parser.add_argument("--out", required=True, help="the folder")
    parser.add_argument("--dask", type=_address, help="the address of a Dask scheduler; this machine by default")
    parser.add_argument("--dask-timeout", type=float, default=10.0, help="seconds that the scheduler may take to answer")
    parser.add_argument("--jobs", type=int, help="points at a time on this machine; as many as it has processors by default")
    parser.add_argument("--partition-by", help="the field whose values get folders")
    parser.add_argument("--retries", type=int, default=3, help="how often a lost task is tried again")
    parser.add_argument("--resume", action="store_true", help="go on with what the folder has")
    parser.add_argument("--force", action="store_true", help="begin anew")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    given = parser.parse_args()
    try:
        grid = Grid.from_toml(sys.stdin.read() + "\n" if given.grid == "-" else given.grid)
        swept = sweep(
            grid,
            given.dask or "local",
            out=given.out,
            partition_by=given.partition_by,
            resume=given.resume,
            overwrite=given.force,
            retries=given.retries,
            jobs=given.jobs,
            timeout=given.dask_timeout,
        )
    except (Error, ImportError) as error:
        print(f"error: {_as_typed(error)}", file=sys.stderr)
        return 2 if isinstance(error, (ArgumentError, ScenarioError, DataSetError)) else 1
    except KeyboardInterrupt:
        is_begun = pathlib.Path(given.out, "_manifest.json").exists()
        what = "finished points are kept; the same command with --resume continues" if is_begun else "nothing is begun"
        print(f"interrupted: {what}", file=sys.stderr)
        return 130
    print(_shown(swept, given.json))
    return 0


def _address(text: str) -> str:
    try:
        return dask.address_of(text)
    except Error as error:
        raise argparse.ArgumentTypeError(f"it is {error.found}") from None


#: The command's options, by what the function says instead.
_OPTIONS = {
    "resume=True": "--resume",
    "overwrite=True": "--force",
    "with resume finishes": "with --resume finishes",
    "`out`": "--out",
    "`partition_by`": "--partition-by",
    "`retries`": "--retries",
    "`timeout`": "--dask-timeout",
    "`jobs`": "--jobs",
    "with out=": "with --out",
}


def _as_typed(error: Exception) -> str:
    """What ``error`` says, in the words of the command line."""
    message = str(error)
    for argument, option in _OPTIONS.items():
        message = message.replace(argument, option)
    return message


def _shown(swept: Sweep, as_json: bool) -> str:
    manifest = swept.manifest
    parts = len(manifest["parts"])
    if not as_json:
        files = "1 file" if parts == 1 else f"{parts} files"
        return f"{len(swept)} points in {files}: the data set {swept.path}"
    summary = {
        "schema": 1,
        "folder": str(swept.path),
        "grid": manifest["grid"],
        "model": manifest["model"],
        "points": len(swept),
        "parts": parts,
        "partition_by": manifest["partition_by"],
    }
    return json.dumps(summary, indent=2)


if __name__ == "__main__":
    sys.exit(main())
