"""Classifiers over the data sets: the best one in words, the critical-difference diagram, and pairs.

The diagram shows the mean ranks, and bars that join classifiers without a significant difference. Pairs are shown for
both questions side by side, with the Bayesian answer.
"""

from collections.abc import Iterator, Sequence

from markupsafe import Markup

from sigstats._common.numerals import adjusted_p, count_of, index_number, p_number, significant
from sigstats.multiplicity import fewest_resamples

from ..pages import svg
from ..pages.page import data_table
from ..pages.svg import Axes
from .evidence import Evidence, Figure, OverDataSets, Verdict
from .verdicts import best_in_words, choice

#: Diagram of ranks: width without names, heights of a name and a bar, and space above.
_RANKS_WIDTH, _NAME_LINE, _BAR, _TOP = 160.0, 18.0, 9.0, 34.0
#: Chart of probabilities: width of the bars and height of a line.
_BARS, _LINE = 120.0, 20.0


def draw_ranks(evidence: Evidence) -> Iterator[Figure]:
    """Return one figure if there are at least three data sets."""
    analysis = evidence.over_data_sets
    if analysis is not None:
        cliques = analysis.comparison.cliques
        yield Figure(
            title="Mean ranks over the data sets",
            caption=_caption_of_ranks(analysis),
            body=picture(analysis.comparison.models, analysis.comparison.ranks, cliques),
        )


def _caption_of_ranks(analysis: OverDataSets) -> str:
    what, comparison = analysis.score.model, analysis.comparison
    sentence = f"Mean ranks of {len(comparison.models)} {what}s on {comparison.datasets} data sets, 1 for the best."
    if comparison.control is not None:
        return f"{sentence} All are compared with {comparison.control}; no other pair is tested."
    return (
        f"{sentence} A bar joins {what}s without significant differences, by exact signed-rank tests "
        f"({adjusted_p(comparison.adjust)} at {significant(comparison.alpha)}): those with a point on it. "
        f"A {what} without a point on the bar differs from at least one on it."
    )


def picture(models: Sequence[str], ranks: Sequence[float], cliques: Sequence[Sequence[str]]) -> Markup:
    """Draw the diagram, models from the best mean rank to the worst."""
    k = len(models)
    place = dict(zip(models, ranks, strict=True))
    bars = [clique for clique in cliques if len(clique) > 1]
    room = 24 + max(svg.text_width(f"{name} 00.00") for name in models)
    first, lines = _TOP + 14 + _BAR * len(bars) + 8, (k + 1) // 2
    height = first + _NAME_LINE * lines + 6
    axes = Axes(
        width=_RANKS_WIDTH + 2 * room,
        height=height,
        left=room,
        right=room,
        top=_TOP,
        bottom=height - _TOP,
        x_limits=(1, max(k, 2)),
    )
    marks = range(1, k + 1, max(1, k // 12))
    parts = [axes.across("axis", 0)]
    parts += [svg.text(axes.x(rank), _TOP - 12, str(rank), css="tick") for rank in marks]
    parts += [svg.path("axis", f"M{svg.coordinate(axes.x(rank))} {_TOP:g}v-5") for rank in marks]
    for position, name in enumerate(models):
        left = position < lines
        row = position if left else k - 1 - position
        x, y = axes.x(place[name]), first + _NAME_LINE * row + 8
        edge = room - 8 if left else axes.width - room + 8
        leader = f"M{svg.coordinate(x)} {_TOP:g}V{svg.coordinate(y)}H{svg.coordinate(edge)}"
        label = f"{name} {place[name]:.2f}" if left else f"{place[name]:.2f} {name}"
        parts.append(svg.path("leader", leader))
        parts.append(svg.text(edge - 4 if left else edge + 4, y + 4, label, anchor="end" if left else "start"))
    for number, clique in enumerate(bars):
        y = _TOP + 14 + _BAR * number
        ends = sorted(axes.x(place[name]) for name in clique)
        low, high = svg.coordinate(ends[0] - 3), svg.coordinate(ends[-1] + 3)
        parts.append(svg.path("clique", f"M{low} {svg.coordinate(y)}H{high}"))
        parts += [
            Markup('<circle class="member" cx="{}" cy="{}" r="3.5"/>').format(svg.coordinate(x), svg.coordinate(y))
            for x in ends
        ]
    sets = "; ".join(" and ".join(clique) for clique in bars[:20]) or "none"
    drawn = axes.drawing("critical-difference", "Mean ranks", f"Sets without significant differences: {sets}.", *parts)
    return Markup('<div class="scroll">{}</div>').format(drawn)


def draw_pairs(evidence: Evidence) -> Iterator[Figure]:
    """Return two figures if there are at least three data sets; one if the rows are unknown."""
    result = evidence.over_data_sets
    if result is None:
        return
    if result.these:
        yield Figure(
            title="These data sets, and data sets like these",
            caption=(
                "Two questions. On these data sets the rows are the sample: with many rows even a small "
                "difference of the mean is significant. On data sets like these each data set is one observation: "
                "a few large data sets do not outweigh the others. The differences are A minus B in points: the mean, "
                "and Hodges and Lehmann's estimate; p-values are adjusted."
            ),
            body=_questions(result),
        )
    yield Figure(
        title="How probable is it that A is better?",
        caption=(
            "The Bayesian signed-rank test: the probability that on data sets like these A is better (left), equal "
            f"within {result.score.equal} (middle), or worse (right)."
        ),
        body=_probabilities(result),
    )


def _questions(analysis: OverDataSets) -> Markup:
    kinds = {"A": "", "B": ""} | dict.fromkeys(("mean", "p, these", "median", "p, like these"), "number")
    difference = analysis.score.difference
    rows = [
        (
            like.a,
            like.b,
            difference(these.difference),
            p_number(these.adjusted_pvalue),
            difference(like.estimate),
            p_number(like.adjusted_pvalue),
        )
        for like, these in zip(analysis.comparison.pairs, analysis.these, strict=True)
    ]
    return data_table("Two questions", kinds, rows)


def _probabilities(analysis: OverDataSets) -> Markup:
    labels = [f"{pair.a} against {pair.b}" for pair in analysis.comparison.pairs]
    left = max(map(svg.text_width, labels)) + 16
    height = _LINE * len(labels) + 8
    parts = []
    for row, (label, pair) in enumerate(zip(labels, analysis.comparison.pairs, strict=True)):
        better, equal, worse = pair.probabilities
        y, x = _LINE * row + 4, left
        parts.append(svg.text(left - 10, y + 13, label, anchor="end"))
        for name, share in (("better", better), ("equal", equal), ("worse", worse)):
            width = _BARS * share
            if width >= 0.5:
                across = svg.coordinate(width)
                bar = f"M{svg.coordinate(x)} {svg.coordinate(y + 2)}h{across}v{_LINE - 6:g}h-{across}Z"
                parts.append(svg.path(f"share {name}", bar))
            x += width
        numbers = " / ".join(map(index_number, (better, equal, worse)))
        parts.append(svg.text(left + _BARS + 10, y + 13, numbers, anchor="start"))
    drawn = svg.drawing(
        "probabilities",
        left + _BARS + 140,
        height,
        "Probabilities that A is better, equal in practice, or worse",
        f"{len(labels)} pairs of {analysis.score.model}s.",
        *parts,
    )
    return Markup('<div class="scroll">{}</div>').format(drawn)


def best_over_data_sets(evidence: Evidence) -> Verdict | None:
    """Name the best classifier on data sets like these, and on these; None if there are too few."""
    analysis = evidence.over_data_sets
    if analysis is None:
        return None
    comparison, too_few = analysis.comparison, list[str]()
    on_these, nearest, to_do = _on_these(analysis)
    # The smallest p of n data sets is 2 / 2**n.
    fewest = fewest_resamples(len(comparison.pairs), [], method=comparison.adjust, alpha=comparison.alpha)
    needed = 1 + fewest.bit_length()
    if comparison.datasets < needed:
        pairs = count_of(len(comparison.pairs), "pair")
        too_few.append(f"{comparison.datasets} data sets are too few for {pairs}: at least {needed} are needed.")
    if not analysis.these:  # without the rows, data sets are the only sample
        return Verdict(comparison.conclusion, (on_these, *too_few))
    beyond = ("On data sets like these:", comparison.conclusion)
    return Verdict(on_these, (*nearest, comparison.conclusion, *too_few), also=(beyond,), to_do=to_do)


def _on_these(analysis: OverDataSets) -> tuple[str, tuple[str, ...], str]:
    """Name the best model on these data sets, the distance to the next one, and the models to choose from."""
    comparison = analysis.comparison
    better = max if analysis.score.greater_is_better else min
    most = better(analysis.means, key=lambda model: analysis.means[model])
    pairs = zip(comparison.pairs, analysis.these, strict=False)
    ahead = {pair.b if pair.a == most else pair.a: these for pair, these in pairs if most in (pair.a, pair.b)}
    where = f"on these {comparison.datasets} data sets"
    if not ahead:
        known = (
            f"{most} has the best mean {analysis.score.name} {where}; its significance is unknown without their rows."
        )
        return known, (), ""
    tied = [other for other, these in ahead.items() if these.adjusted_pvalue > comparison.alpha]
    least = min(ahead.values(), key=lambda these: abs(these.difference))
    nearest = (
        f"By mean {analysis.score.name} (exact stratified tests, Holm) the nearest to {most} is "
        f"{analysis.score.difference(abs(least.difference)).lstrip('+')} points behind."
    )
    return (
        f"{best_in_words(most, tied, [other for other in ahead if other not in tied], where)}.",
        (nearest,),
        f"On these data sets {choice(most, tied)}.",
    )
