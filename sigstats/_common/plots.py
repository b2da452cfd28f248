"""Pictures of results on the axes of Matplotlib, which is asked for only where a picture is."""

import textwrap
from collections.abc import Sequence
from typing import Any

#: The letters of a line of a caption, below a figure of Matplotlib's usual width.
_LETTERS = 95


class Drawn:
    """A base of results that have a picture."""

    def plot(self, ax: Any = None) -> Any:
        """Draw replicates as a histogram with what was observed, or mean ranks with bars over what is not told apart.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default on a new figure.

        Returns
        -------
        matplotlib.axes.Axes

        Raises
        ------
        ValueError
            If the replicates were not kept, or there are no axes and Matplotlib is not installed.
        """
        drawn = self._draw(ax)
        if ax is None:  # on a figure of its own, which SVG, PNG and PDF save with its caption
            drawn.figure.supxlabel(textwrap.fill(self._caption(), _LETTERS), x=0.01, ha="left", fontsize="small")
        return drawn

    def _caption(self) -> str:
        """The title of the table of the result, and the first line below it."""
        table: Any = self._table()  # type: ignore[attr-defined]
        return " ".join([table.title, *table.notes[:1]])

    def _draw(self, ax: Any) -> Any:
        raise NotImplementedError


def axes(ax: Any) -> Any:
    """The axes to draw on; those of a new figure where there are none. ValueError without Matplotlib."""
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError:
        raise ValueError("ax: None is not valid; expected axes; new ones need pip install matplotlib") from None
    return pyplot.subplots(layout="constrained")[1]


def histogram(ax: Any, values: Sequence[float], marks: dict[str, float], *, title: str, unit: str) -> Any:
    """A histogram of values, with some values as lines that the legend names."""
    ax = axes(ax)
    ax.hist(values, bins=min(50, max(10, len(set(values)))), color="0.75")
    for place, (name, value) in enumerate(marks.items()):
        ax.axvline(value, color=f"C{place}", linestyle=("-", "--", ":")[place % 3], label=name)
    ax.set(title=title, xlabel=unit, ylabel="replicates")
    ax.legend()
    return ax


def ranks_with_cliques(
    ax: Any, models: Sequence[str], ranks: Sequence[float], cliques: Sequence[Sequence[str]], *, title: str
) -> Any:
    """Mean ranks as points, one model a line, and a bar over the models of each clique (Demsar 2006)."""
    ax = axes(ax)
    ax.plot(ranks, range(len(models)), "o")
    ax.set_yticks(range(len(models)), models)
    at = dict(zip(models, ranks, strict=True))
    for place, clique in enumerate(each for each in cliques if len(each) > 1):
        ends = min(at[model] for model in clique), max(at[model] for model in clique)
        ax.plot(ends, [-0.6 - 0.3 * place] * 2, linewidth=3, color="0.4")
    ax.invert_yaxis()
    ax.set(title=title, xlabel="mean rank; a bar joins models that were not shown to differ")
    return ax
