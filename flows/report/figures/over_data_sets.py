"""Pairs of classifiers over the data sets: the matrix, the two questions side by side, the Bayesian answer."""

from collections.abc import Iterator

from markupsafe import Markup

from ...pages import svg
from ...pages.heat_table import DIAGONAL, MISSING, HeatCell, data_table, heat_table, p_legend, p_shade
from ...pages.wording import adjusted_p, index_number, p_number, p_order
from ..evidence import Evidence
from ..over_data_sets import OverDataSets
from ..section import Figure

ORDER = 2
_BARS, _LINE = 120.0, 20.0


def draw(evidence: Evidence) -> Iterator[Figure]:
    """Three figures, where there are three data sets or more; two where their rows are not known."""
    found = evidence.over_data_sets
    if found is None:
        return
    yield Figure(
        title="Pairs on data sets like these",
        caption=(
            f"Each cell has the {adjusted_p(found.comparison.adjust)} of the exact signed-rank test, and under it the "
            f"data sets on which the {found.score.model} on the left won, tied and lost. ● marks pairs that differ."
        ),
        body=_matrix(found) + p_legend(),
    )
    if found.these:
        yield Figure(
            title="These data sets, and data sets like these",
            caption=(
                "Two questions with two answers. On these data sets the rows are the sample: with many rows a small "
                "difference of the mean is certain. On data sets like these each data set is one observation: a few "
                "large data sets do not outweigh the others. The differences are of A less B in points: the mean, and "
                "Hodges and Lehmann's estimate; p-values are adjusted by Holm's method."
            ),
            body=_questions(found),
        )
    yield Figure(
        title="How probable is it that A is better?",
        caption=(
            "The Bayesian signed-rank test: the probability that on data sets like these A is better (left), equal "
            f"within {found.score.equal} (middle), or worse (right)."
        ),
        body=_probabilities(found),
    )


def _matrix(found: OverDataSets) -> Markup:
    by_pair = {(pair.a, pair.b): pair for pair in found.comparison.pairs}

    def cell(left: str, above: str) -> HeatCell:
        if left == above:
            return DIAGONAL
        pair = by_pair.get((left, above)) or by_pair.get((above, left))
        if pair is None:
            return MISSING
        wins, losses = (pair.wins, pair.losses) if pair.a == left else (pair.losses, pair.wins)
        return HeatCell(
            p_order(pair.adjusted_pvalue),
            p_shade(pair.adjusted_pvalue),
            below=f"{wins}–{pair.ties}–{losses}",
            marked=pair.adjusted_pvalue <= found.comparison.alpha,
            hint=f"{left} against {above}: p = {p_number(pair.pvalue)}",
        )

    models = found.comparison.models
    return heat_table("Adjusted p", f"Pairs of {found.score.model}s over the data sets", models, models, cell)


def _questions(found: OverDataSets) -> Markup:
    kinds = {"A": "", "B": ""} | dict.fromkeys(("mean", "p, these", "median", "p, like these"), "number")
    difference = found.score.difference
    rows = [
        (
            like.a,
            like.b,
            difference(these.difference),
            p_number(these.adjusted_pvalue),
            difference(like.estimate),
            p_number(like.adjusted_pvalue),
        )
        for like, these in zip(found.comparison.pairs, found.these, strict=True)
    ]
    return data_table("Two questions", kinds, rows)


def _probabilities(found: OverDataSets) -> Markup:
    labels = [f"{pair.a} against {pair.b}" for pair in found.comparison.pairs]
    left = max(map(svg.text_width, labels)) + 16
    height = _LINE * len(labels) + 8
    parts = []
    for row, (label, pair) in enumerate(zip(labels, found.comparison.pairs, strict=True)):
        better, equal, worse = pair.probabilities
        y, x = _LINE * row + 4, left
        parts.append(svg.text(left - 10, y + 13, label, anchor="end"))
        for name, share in (("better", better), ("equal", equal), ("worse", worse)):
            width = _BARS * share
            if width >= 0.5:
                parts.append(svg.path(f"share {name}", _rectangle(x, y + 2, width, _LINE - 6)))
            x += width
        said = " / ".join(map(index_number, (better, equal, worse)))
        parts.append(svg.text(left + _BARS + 10, y + 13, said, anchor="start"))
    drawn = svg.drawing(
        "probabilities",
        left + _BARS + 140,
        height,
        "Probabilities that A is better, equal in practice, or worse",
        f"{len(labels)} pairs of {found.score.model}s.",
        *parts,
    )
    return Markup('<div class="scroll">{}</div>').format(drawn)


def _rectangle(x: float, y: float, width: float, height: float) -> str:
    return f"M{svg.coordinate(x)} {svg.coordinate(y)}h{svg.coordinate(width)}v{height:g}h-{svg.coordinate(width)}Z"
