"""The rank sets of a leaderboard as a drawing: for each model the ranks that it may have."""

from collections.abc import Sequence

from markupsafe import Markup

from sigstats.ranking.result import RankedModel

from ..pages import svg
from ..pages.axes import Axes

_WIDTH, _LINE, _BOTTOM, _WIDEST = 560.0, 20.0, 40.0, 320.0


def rank_plot(models: Sequence[RankedModel]) -> Markup:
    """One line for each model, the best first; a point marks its place by score."""
    k = len(models)
    left = min(max(svg.text_width(each.model) for each in models), _WIDEST) + 24
    axes = Axes(
        width=left + _WIDTH,
        height=_LINE * k + 12 + _BOTTOM,
        left=left,
        right=20,
        bottom=_BOTTOM,
        x_limits=(0.5, k + 0.5),
        y_limits=(k, 0),
    )
    step = max(1, -(-k // 12))
    ticks = [(float(rank), str(rank)) for rank in range(1, k + 1, step)]
    parts = [axes.x_axis("rank, 1 for the best", ticks=ticks, line=False)]
    for place, model in enumerate(models):
        middle, css = place + 0.5, "" if model.tier == 1 else " later"
        ends = [(model.rank_low - 0.35, middle), (model.rank_high + 0.35, middle)]
        parts += [
            svg.text(axes.left - 12, axes.y(middle) + 4, _shortened(model.model), anchor="end"),
            axes.line(f"interval{css}", ends),
            axes.dot(place + 1, middle, 3.5),
        ]
    description = "; ".join(f"{each.model}: {each.rank_low} to {each.rank_high}" for each in models[:20])
    more = f"; and {k - 20} more" if k > 20 else ""
    return axes.drawing("ranks", "Ranks that each model may have", f"{description}{more}.", *parts)


def _shortened(name: str) -> str:
    most = int(_WIDEST / svg.text_width("x"))
    return name if len(name) <= most else f"{name[: most - 1]}…"
