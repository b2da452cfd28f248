"""The critical-difference picture: mean ranks, and bars that join classifiers of which no two differ."""

from collections.abc import Iterator, Sequence

from markupsafe import Markup

from ...pages import svg
from ...pages.heat_table import data_table
from ...pages.svg import Axes
from ...pages.wording import adjusted_p, significant
from ..evidence import Evidence
from ..over_data_sets import OverDataSets
from ..section import Figure

ORDER = 1
_WIDTH, _LINE, _BAR, _TOP = 160.0, 18.0, 9.0, 34.0


def draw(evidence: Evidence) -> Iterator[Figure]:
    """One figure, where there are three data sets or more."""
    found = evidence.over_data_sets
    if found is not None:
        cliques = found.comparison.cliques
        yield Figure(
            title="Mean ranks over the data sets",
            caption=_caption(found),
            body=picture(found.comparison.models, found.comparison.ranks, cliques) + _table(found),
        )


def _caption(found: OverDataSets) -> str:
    what, comparison = found.score.model, found.comparison
    said = f"Mean ranks of {len(comparison.models)} {what}s on {comparison.datasets} data sets, 1 for the best."
    if comparison.control is not None:
        return f"{said} All are compared with {comparison.control}; no other pair is tested."
    return (
        f"{said} A bar joins {what}s of which no two are shown to differ, by exact signed-rank tests "
        f"({adjusted_p(comparison.adjust)} at {significant(comparison.alpha)}): those that have a point on it. "
        f"A bar may pass over a {what} without a point, which differs from one on the bar."
    )


def picture(models: Sequence[str], ranks: Sequence[float], cliques: Sequence[Sequence[str]]) -> Markup:
    """The picture; the models stand from the best mean rank to the worst."""
    k = len(models)
    place = dict(zip(models, ranks, strict=True))
    bars = [clique for clique in cliques if len(clique) > 1]
    room = 24 + max(svg.text_width(f"{name} 00.00") for name in models)
    first, lines = _TOP + 14 + _BAR * len(bars) + 8, (k + 1) // 2
    height = first + _LINE * lines + 6
    axes = Axes(
        width=_WIDTH + 2 * room,
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
        x, y = axes.x(place[name]), first + _LINE * row + 8
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
    said = "; ".join(" and ".join(clique) for clique in bars[:20]) or "none"
    drawn = axes.drawing("critical-difference", "Mean ranks", f"Sets of which no two differ: {said}.", *parts)
    return Markup('<div class="scroll">{}</div>').format(drawn)


def _table(found: OverDataSets) -> Markup:
    comparison = found.comparison
    columns = {found.score.model: comparison.models, "mean rank": tuple(f"{rank:.2f}" for rank in comparison.ranks)}
    if found.low:
        bounds = zip(found.low, found.high, strict=True)
        columns["ranks it may have"] = tuple(f"{low}" if low == high else f"{low}–{high}" for low, high in bounds)
    columns[f"mean {found.score.name}"] = tuple(map(found.score.text, found.means))
    kinds = dict.fromkeys(columns, "number") | {found.score.model: "row"}
    return data_table("Mean ranks", kinds, zip(*columns.values(), strict=True))
