"""``python3 -m warmcore.sweeping GRID.toml --out FOLDER --dask ADDRESS``: what ``warmcore sweep … --dask`` runs."""

from __future__ import annotations

import argparse
import json
import sys

from ..errors import Error
from . import Grid, Sweep, sweep


def main() -> int:
    """Sweeps the grid that the command line names; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python3 -m warmcore.sweeping", description="Sweeps a grid into a data set.")
    parser.add_argument("grid", help="the grid's file, or - for standard input")
    parser.add_argument("--out", required=True, help="the folder")
    parser.add_argument("--dask", help="the address of a Dask scheduler; this machine by default")
    parser.add_argument("--timeout", type=float, default=10.0, help="seconds that the scheduler may take to answer")
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
            timeout=given.timeout,
        )
    except (Error, ImportError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted: finished points are kept; the same command with --resume continues", file=sys.stderr)
        return 130
    print(_shown(swept, given.json))
    return 0


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
