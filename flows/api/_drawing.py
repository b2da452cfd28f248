"""Artists on axes of Matplotlib that figures of studies share; each function returns one that draws on axes."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from sigstats._common.drawing import axes, legend

Draw: TypeAlias = Callable[[Any], Any]
Values: TypeAlias = Any  # what NumPy takes as numbers


def curves(
    lines: Mapping[str, tuple[Values, Values]],
    labels: tuple[str, str],
    *,
    level: float | None = None,
    diagonal: bool = False,
    scale: str = "linear",
    band: tuple[Values, Values, Values] | None = None,
    bars: Sequence[tuple[Values, ...]] = (),
    ticks: Sequence[str] = (),
) -> Draw:
    """Lines by label, a band of intervals, bars of intervals with their points, and a dashed level or diagonal."""

    def draw(ax: Any) -> Any:
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

    return draw


def stairs(
    counts: Values, edges: Values, mark: float, labels: tuple[str, str], band: tuple[float, float] | None = None
) -> Draw:
    """A histogram of counts between edges, a line at the mark, and a shaded band behind."""

    def draw(ax: Any) -> Any:
        ax = axes(ax)
        if band is not None:
            ax.axvspan(*band, color="0.9")
        ax.stairs(counts, edges, fill=True, color="0.6")
        ax.axvline(mark, color="C0")
        ax.set(xlabel=labels[0], ylabel=labels[1])
        return ax

    return draw


def zip_plot(low: Values, high: Values, covers: Any, truth: float, confidence: float) -> Draw:
    """Intervals above each other, those that miss the truth in another colour."""

    def draw(ax: Any) -> Any:
        ax, heights = axes(ax), (np.arange(len(low)) + 0.5) / len(low)
        for of, color in ((covers, "0.7"), (~covers, "C3")):
            ax.hlines(heights[of], low[of], high[of], color=color, linewidth=0.8)
            ax.plot(low[of], heights[of], ".", color=color, markersize=1)  # intervals of length 0 are seen too
        ax.axvline(truth, color="C0")
        ax.axhline(confidence, color="0.5", linestyle="--")
        ax.set(xlabel="interval", ylabel="share of the test sets")
        return ax

    return draw


def shares_of(bars: Mapping[str, Sequence[float]]) -> Draw:
    """Draw a bar for each label, from the top, divided into the shares better, equal and worse."""
    names = ("better", "equal", "worse")

    def draw(ax: Any) -> Any:
        ax, values = axes(ax, len(bars)), np.array(list(bars.values()))
        for name, share, left in zip(names, values.T, (values.cumsum(axis=1) - values).T, strict=True):
            ax.barh(list(bars), share, left=left, label=name)
        ax.tick_params(axis="y", labelsize="small")
        ax.invert_yaxis()
        ax.set(xlabel="probability")
        legend(ax, ncols=len(names), handlelength=1, loc="lower right", bbox_to_anchor=(1, 1))
        return ax

    return draw
