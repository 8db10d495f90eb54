"""Published results, simulated again."""

from __future__ import annotations

import html
import json
from typing import TYPE_CHECKING, Any, Literal

from . import _native
from ._native import Table
from ._tables import Tabular, html_table
from .profile import Profile

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Reproduction", "reproduce"]

#: The sources whose evidence is simulated.
Source = Literal["salehi-1994", "torrellas-1995", "falsafi-1998"]


class Reproduction(Tabular):
    """A source's figures, simulated again: the claims with their verdicts, the points, and the charts.

    Arrow's C stream of it is that of :attr:`table`.
    """

    #: The points: a row for each, with units and half-widths in the schema.
    table: Table
    #: The claims: what was published, what we find, the interval, and the verdict.
    claims: Table

    def __init__(self, summary: str, charts: str, claims: Table, table: Table) -> None:
        self._summary: dict[str, Any] = json.loads(summary)
        self._charts: list[dict[str, Any]] = json.loads(charts)
        self.claims = claims
        self.table = table

    def _rows(self) -> Table:
        return self.table

    @property
    def source(self) -> str:
        """The citation of the source."""
        citation: str = self._summary["citation"]
        return citation

    @property
    def figures(self) -> list[str]:
        """The names of the figures."""
        return list(self._summary["figures"])

    @property
    def machine(self) -> str:
        """The machine that the points are of, in words."""
        machine: str = self._summary["machine"]
        return machine

    @property
    def charts(self) -> list[dict[str, Any]]:
        """The figures' charts as data: ``title``, axes, and ``views`` with their ``series`` of points."""
        charts: list[dict[str, Any]] = json.loads(json.dumps(self._charts))
        return charts

    @property
    def verdicts(self) -> dict[str, int]:
        """How many claims have which verdict."""
        counts: dict[str, int] = {}
        for claim in self._summary["claims"]:
            counts[claim["verdict"]] = counts.get(claim["verdict"], 0) + 1
        return counts

    def plot(self, chart: int = 0, *, view: int | None = None, ax: Any = None) -> Figure:
        """Draws a chart with matplotlib, in the colours of the report. Needs ``warmcore[plot]``.

        Args:
            chart: Which of :attr:`charts`.
            view: Which of its views; the one that the report shows first, if it is not given.
            ax: Axes to draw into; a figure of its own otherwise.
        """
        from .plotting import draw

        return draw(self._charts[chart], view=view, ax=ax)

    def __repr__(self) -> str:
        verdicts = ", ".join(f"{count} {name}" for name, count in self.verdicts.items())
        return f"<Reproduction of {self._summary['source']}, {', '.join(self.figures)}: {verdicts or 'no claims'}>"

    def _repr_html_(self) -> str:
        cells = ("place", "claim", "published", "ours_in_words", "verdict_in_words")
        rows = [[str(claim[cell]) for cell in cells] for claim in self._summary["claims"]]
        heads = ("place", "claim", "published", "ours", "verdict")
        return html_table(f"<b>{html.escape(self.source)}</b>", rows, heads, texts=len(cells))


def reproduce(
    source: Source,
    figure: int | str | list[int | str] | None = None,
    *,
    quick: bool = False,
    seed: int | None = None,
    precision: float | None = None,
    profile: Profile | None = None,
) -> Reproduction:
    """Simulates the figures of a publication again, as ``warmcore reproduce`` does.

    Args:
        source: ``"salehi-1994"`` (packets), ``"torrellas-1995"`` (run queues) or ``"falsafi-1998"`` (clusters).
        figure: A figure, such as ``12`` or ``"7a"``, or several; all of them if none is given.
        quick: The same points within seconds to minutes, with wider intervals.
        seed: The seed of all random choices, 1 if not given. (Not of falsafi-1998.)
        precision: The half-width of mean delays to aim for, as a fraction. (Of salehi-1994.)
        profile: The costs of another machine than the published one; its claims are then not judged. (Of salehi-1994.)

    Raises:
        Error: The source or a figure is unknown; the message names those there are.
        ProfileError: The profile lacks costs that are needed.
    """
    figures = [] if figure is None else figure if isinstance(figure, list) else [figure]
    found = _native.reproduce(
        source,
        [str(one) for one in figures],
        quick,
        seed=seed,
        precision=precision,
        profile=None if profile is None else profile.to_toml(),
    )
    return Reproduction(*found)
