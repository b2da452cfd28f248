"""A leaderboard as one page of HTML that needs no network, with a drawing of the rank sets."""

from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest
from typing import Any

from markupsafe import Markup

from sigstats._common.numerals import p_number, p_order, signed, significant
from sigstats.ranking.result import RankedModel, RankedPair, Ranking

from ..pages import svg
from ..pages.page import Answer, HeatCell, p_legend, p_shade, page, pair_table
from ..pages.svg import Axes
from .words import answer_of, basis, cells_of, header_of, ranks_of, rows_in_words, score_of

#: A matrix of more models is too wide to be read; a page with more pairs is slow.
MOST_IN_MATRIX, MOST_PAIRS = 30, 10_000


def as_html(ranking: Ranking) -> str:
    """Return the page: which model is best, the rank sets, the table of models, all pairs, the slices."""
    confidence = f"{significant(100 * ranking.confidence_level)}%"
    answer = _answer(ranking, confidence)
    return page(
        "ranking.html.j2",
        answer=answer,
        rows=rows_in_words(ranking),
        basis=basis(ranking),
        confidence=confidence,
        notes=ranking.notes,
        header=header_of(ranking),
        models=[  # cells: (text, value by which the page sorts)
            list(zip_longest(cells_of(ranking, model), (model.rank_low, model.tier, "", model.score), fillvalue=""))
            for model in ranking.models
        ],
        matrix=_matrix(ranking) if len(ranking.models) <= MOST_IN_MATRIX else "",
        pairs=[_pair(ranking, pair) for pair in ranking.pairs] if len(ranking.pairs) <= MOST_PAIRS else [],
        count=len(ranking.pairs),
        tested=bool(ranking.test),
        slices=list(_slices(ranking)),
        slice_names=[f"{slice_.slice} ({slice_.n:,})" for slice_ in ranking.slices if slice_.models],
        left_out=[slice_ for slice_ in ranking.slices if slice_.note],
    )


def _answer(ranking: Ranking, confidence: str) -> Answer:
    (first, second), answer = ranking.models[:2], answer_of(ranking)
    numbers = [("first", score_of(first, first.score, ranking.n), first.model)]
    numbers += [("second", score_of(second, second.score, ranking.n), second.model)]
    pair = next((met for met in ranking.pairs if (met.a, met.b) == (first.model, second.model)), None)
    if pair is not None:
        numbers.append(("difference", _difference(ranking, pair), f"p {p_order(pair.adjusted_pvalue)}"))
    return Answer(
        headline=answer.headline,
        numbers=numbers,
        shown=list(answer.also),
        to_do=answer.advice,
        figure=rank_plot(ranking.models),
        caption=(
            "The possible ranks of each model. All lines contain the true ranks with "
            f"{confidence} confidence. Points: places by score. Thin lines: models behind tier 1."
        ),
    )


def _matrix(ranking: Ranking) -> Markup:
    pairs = {(pair.a, pair.b): pair for pair in ranking.pairs}

    def entry(left: str, above: str) -> tuple[float, str, bool] | str:
        pair = pairs.get((left, above))
        if pair is None:
            return f"{above} has the better score, or the same"
        return pair.adjusted_pvalue, _difference(ranking, pair), pair.better

    return pair_matrix("better than", [model.model for model in ranking.models], entry)


def pair_matrix(
    relation: str, names: Sequence[str], entry: Callable[[str, str], tuple[float, str, bool] | str]
) -> Markup:
    """Return a table of ordered pairs. `entry`: adjusted p, the value below it, and if it is shown, or a reason."""

    def cell(left: str, above: str) -> HeatCell:
        content = entry(left, above)
        if isinstance(content, str):
            return HeatCell("", "", hint=content)
        p, below, marked = content
        hint = f"{left} {relation} {above}: adjusted p = {p_number(p)}"
        return HeatCell(p_order(p), p_shade(p), below=below, marked=marked, hint=hint)

    return pair_table(f"Left {relation} above", "Pairs of models", names, cell) + p_legend()


def _difference(ranking: Ranking, pair: RankedPair) -> str:
    return signed(100 * pair.difference, 1) if ranking.measure == "accuracy" else signed(pair.difference, 4)


def _pair(ranking: Ranking, pair: RankedPair) -> list[tuple[str, Any]]:
    """Return the cells of a pair: (text, value by which the page sorts)."""
    return [
        (pair.a, ""),
        (pair.b, ""),
        (_difference(ranking, pair), pair.difference),
        (p_number(pair.pvalue), pair.pvalue),
        (p_number(pair.adjusted_pvalue), pair.adjusted_pvalue),
        ("better" if pair.better else "not shown", ""),
        *([(pair.test, "")] if ranking.test else []),
    ]


def _slices(ranking: Ranking) -> Iterator[list[str]]:
    tested = [{model.model: model for model in slice_.models} for slice_ in ranking.slices if slice_.models]
    sizes = [slice_.n for slice_ in ranking.slices if slice_.models]
    for model in ranking.models if tested else ():
        of_slices = [(of[model.model], n) for of, n in zip(tested, sizes, strict=True)]
        yield [model.model, *(f"{ranks_of(slice_)} ({score_of(slice_, slice_.score, n)})" for slice_, n in of_slices)]


#: Width on a phone; a wider screen enlarges it.
_WIDTH, _LINE, _BOTTOM, _WIDEST = 360.0, 20.0, 40.0, 150.0


def rank_plot(models: Sequence[RankedModel]) -> Markup:
    """Return one line for each model, the best first; a point marks its place by score."""
    k = len(models)
    left = min(max(svg.text_width(row.model) for row in models), _WIDEST) + 24
    axes = Axes(
        width=_WIDTH,
        height=_LINE * k + 12 + _BOTTOM,
        left=left,
        right=10,
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
            svg.text(axes.left - 12, axes.y(middle) + 4, svg.shortened(model.model, _WIDEST), anchor="end"),
            axes.line(f"interval{css}", ends),
            axes.dot(place + 1, middle, 3.5),
        ]
    description = "; ".join(f"{row.model}: {row.rank_low} to {row.rank_high}" for row in models[:20])
    more = f"; and {k - 20} more" if k > 20 else ""
    return axes.drawing("ranks", "Ranks that each model may have", f"{description}{more}.", *parts)
