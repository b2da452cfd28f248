"""Figures for papers: results and studies drawn on axes of Matplotlib, without title or caption."""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Concatenate, ParamSpec, TypeAlias

import numpy as np

from .tabular import Tabular
from .validation import Limits

#: The width in inches of one column of a paper, the usual height, and the height of a labelled line.
_WIDTH, _HEIGHT, _LINE = 3.4, 2.4, 0.2


class Drawn(Tabular):
    """A base of results that have a figure."""

    def plot(self, ax: Any = None) -> Any:
        """Draw the result: replicates as a histogram, mean ranks with bars over cliques, or intervals as a forest.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default on a new figure as wide as a column of a paper.

        Returns
        -------
        matplotlib.axes.Axes

        Raises
        ------
        ValueError
            If the result has nothing to draw, or no axes are given and Matplotlib is not installed.
        """
        return self._draw(ax)

    def _draw(self, ax: Any) -> Any:
        raise NotImplementedError


def axes(ax: Any, lines: int = 0) -> Any:
    """Return `ax`, or axes of a new figure with room for labelled `lines`. Raise ValueError without Matplotlib."""
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError:
        raise ValueError("ax: None is not valid; expected axes; new ones need pip install matplotlib") from None
    size = _WIDTH, max(_HEIGHT, 0.8 + _LINE * lines)
    return pyplot.subplots(figsize=size, layout="constrained")[1]


def legend(ax: Any, **where: Any) -> None:
    """Add a small legend without a frame."""
    ax.legend(fontsize="small", frameon=False, **where)


def histogram(ax: Any, values: Sequence[float], marks: dict[str, float], *, unit: str) -> Any:
    """Draw a histogram, and some values as lines that the legend names."""
    ax = axes(ax)
    ax.hist(values, bins=min(50, max(10, len(set(values)))), color="0.75")
    for place, (name, value) in enumerate(marks.items()):
        ax.axvline(value, color=f"C{place}", linestyle=("-", "--", ":")[place % 3], label=name)
    ax.set(xlabel=unit, ylabel="replicates")
    legend(ax)
    return ax


def ranks_with_cliques(ax: Any, models: Sequence[str], ranks: Sequence[float], cliques: Sequence[Sequence[str]]) -> Any:
    """Draw mean ranks as points, one model per line, and a bar over the models of each clique (Demsar 2006)."""
    ax = axes(ax, len(models))
    ax.plot(ranks, range(len(models)), "o")
    ax.set_yticks(range(len(models)), models)
    at = dict(zip(models, ranks, strict=True))
    for place, clique in enumerate(clique for clique in cliques if len(clique) > 1):
        ends = min(at[model] for model in clique), max(at[model] for model in clique)
        ax.plot(ends, [-0.6 - 0.3 * place] * 2, linewidth=3, color="0.4")
    ax.invert_yaxis()
    ax.set(xlabel="mean rank")
    return ax


def forest(
    ax: Any, lines: Sequence[tuple[str, float, float, float]], *, unit: str, marks: Sequence[float] = (0.0,)
) -> Any:
    """Draw labelled estimates with intervals, from the top, arrows at infinite ends, and dashed lines at marks."""
    if not lines:
        raise ValueError("plot: the result has no intervals to draw")
    labels, values, lows, highs = map(np.array, zip(*lines, strict=True))
    ax, places = axes(ax, len(lines)), np.arange(len(lines))
    finite = [end for end in (*values, *lows, *highs, *marks) if np.isfinite(end)] or [0.0]
    beyond = np.array((-1.1, 1.1)) * (np.ptp(finite) or 1.0) + (max(finite), min(finite))
    ax.hlines(places, lows.clip(beyond[0]), highs.clip(max=beyond[1]), color="C0")
    ax.plot(np.where(np.isinf(values), np.nan, values), places, "o", color="C0")
    for infinite, limit, arrow in ((np.isinf(lows), beyond[0], "<"), (np.isinf(highs), beyond[1], ">")):
        if infinite.any():
            ax.plot(np.full(infinite.sum(), limit), places[infinite], arrow, color="C0")
    for mark in marks:
        ax.axvline(mark, color="0.5", linestyle="--")
    ax.set_yticks(places, labels, fontsize="small")
    ax.locator_params(axis="x", nbins=4)
    ax.invert_yaxis()
    ax.set(xlabel=unit)
    return ax


Draw: TypeAlias = Callable[[Any], Any]
Values: TypeAlias = Any  # what NumPy takes as numbers
P = ParamSpec("P")


def _without_axes(draw: Callable[Concatenate[Any, P], Any]) -> Callable[P, Draw]:
    """Let a function that draws on axes be called without axes; it then returns a function of the axes."""

    @functools.wraps(draw)
    def with_arguments(*args: P.args, **kwargs: P.kwargs) -> Draw:
        return lambda ax: draw(ax, *args, **kwargs)

    return with_arguments


@_without_axes
def curves(
    ax: Any,
    lines: Mapping[str, tuple[Values, Values]],
    labels: tuple[str, str],
    *,
    level: float | None = None,
    diagonal: bool = False,
    scale: str = "linear",
    band: tuple[Values, Values, Values] | None = None,
    bars: Sequence[tuple[Values, ...]] = (),
    ticks: Sequence[str] = (),
) -> Any:
    """Draw lines by label, a band, bars with points, and a dashed level or diagonal."""
    ax = axes(ax)
    if band is not None:
        ax.fill_between(*band, color="0.85")
    for number, (label, (x, y)) in enumerate(lines.items()):
        ax.plot(x, y, color=f"C{number}", label=label)
    for number, (x, y, low, high) in enumerate(bars):
        ax.vlines(x, low, high, color=f"C{number}")
        ax.plot(x, y, ".", color=f"C{number}")
    if level is not None:
        ax.axhline(level, color="0.5", linestyle="--")
    if diagonal:
        ends = [min(min(x) for x, _ in lines.values()), max(max(x) for x, _ in lines.values())]
        ax.plot(ends, ends, color="0.5", linestyle="--")
    ax.set(xlabel=labels[0], ylabel=labels[1], xscale=scale, yscale=scale)
    if ticks:  # after the scale, which sets ticks of its own
        ax.set_xticks(range(len(ticks)), ticks, rotation=90, fontsize="small")
    if len(lines) > 1:
        legend(ax)
    return ax


@_without_axes
def stairs(ax: Any, counts: Values, edges: Values, mark: float, labels: tuple[str, str], band: Limits = None) -> Any:
    """Draw a histogram of counts between edges, a line at the mark, and a shaded band."""
    ax = axes(ax)
    if band is not None:
        ax.axvspan(*band, color="0.9")
    ax.stairs(counts, edges, fill=True, color="0.6")
    ax.axvline(mark, color="C0")
    ax.set(xlabel=labels[0], ylabel=labels[1])
    return ax


@_without_axes
def zip_plot(ax: Any, low: Values, high: Values, covers: Any, truth: float, confidence: float) -> Any:
    """Draw intervals above each other, in another colour if they miss the truth."""
    ax, heights = axes(ax), (np.arange(len(low)) + 0.5) / len(low)
    for of, color in ((covers, "0.7"), (~covers, "C3")):
        ax.hlines(heights[of], low[of], high[of], color=color, linewidth=0.8)
        ax.plot(low[of], heights[of], ".", color=color, markersize=1)  # intervals of length 0 are seen too
    ax.axvline(truth, color="C0")
    ax.axhline(confidence, color="0.5", linestyle="--")
    ax.set(xlabel="interval", ylabel="share of the test sets")
    return ax


@_without_axes
def shares_of(ax: Any, bars: Mapping[str, Sequence[float]]) -> Any:
    """Draw a bar for each label, divided into the shares better, equal and worse."""
    names = ("better", "equal", "worse")
    ax, values = axes(ax, len(bars)), np.array(list(bars.values()))
    for name, share, left in zip(names, values.T, (values.cumsum(axis=1) - values).T, strict=True):
        ax.barh(list(bars), share, left=left, label=name)
    ax.tick_params(axis="y", labelsize="small")
    ax.invert_yaxis()
    ax.set(xlabel="probability")
    legend(ax, ncols=len(names), handlelength=1, loc="lower right", bbox_to_anchor=(1, 1))
    return ax
