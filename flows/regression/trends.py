"""The trends of a regression study: each measure over time, and the differences on each slice."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from markupsafe import Markup

from sigstats.comparison.rule import ComparisonRule
from sigstats.comparison.units import ALL_ROWS
from sigstats.measures.table import MEASURES
from sigstats.tasks.storage.history import Record

from ..pages import svg
from ..pages.svg import Axes
from ..pages.wording import count_of
from ..report.section import Figure

#: As wide as a phone shows it.
_LEFT, _WIDTH = 46.0, 340.0
#: A trend shows the last evaluations, at most so many.
_MOST_EVALUATIONS = 40
#: The evidence is drawn of so many measures and slices.
_MOST_CURVES = 8


@dataclass(frozen=True)
class Point:
    """One evaluation in a trend, named by its candidate: percent, points, or a mark or loss in its own unit."""

    day: str
    name: str
    value: float
    low: float | None
    high: float | None
    reference: float
    verdict: str


def trends_of_measures(records: Sequence[Record], *, fresh: bool = False) -> Figure:
    """Each measure on all rows; `fresh`: those of all looks so far."""
    shown = last_evaluations(records)
    columns = ("candidate_value", "candidate_low", "candidate_high")
    over_all = _trends(shown, lambda row: row["slice"] == ALL_ROWS, columns)
    bodies = [
        _panel(f"trend-{index}", measure, value, 190, unit="%" if _in_points(measure) else "")
        for index, (measure, value) in enumerate(over_all.items())
    ]
    note = f" The last {_MOST_EVALUATIONS} of {len(records)} evaluations." if len(records) > _MOST_EVALUATIONS else ""
    return Figure(
        title="Each measure over time, on all rows",
        caption=(
            f"{'All rows so far, look by look' if fresh else 'Each candidate on all rows, with its interval'}. "
            f"Squares: worse. Diamonds: undecided. Discs: not worse. Dashed: the baseline of the time.{note}"
        ),
        body=Markup("").join(bodies),
    )


def trends_of_slices(records: Sequence[Record]) -> Iterator[Figure]:
    """The differences slice by slice, where there are slices."""
    on_slices = _trends(last_evaluations(records), lambda row: row["slice"] != ALL_ROWS, ("difference", "low", "high"))
    if on_slices:
        panels = [_panel(f"slice-{index}", title, lines, 150) for index, (title, lines) in enumerate(on_slices.items())]
        yield Figure(
            title="Differences over time, slice by slice",
            caption=(
                "Candidate less baseline with its interval, in percentage points, marks and losses in their own unit; "
                "the dashed line is no difference."
            ),
            body=svg.side_by_side(panels),
        )


def stopping_look(records: Sequence[Record]) -> Record | None:
    """The first look that was not inconclusive, with which the looks at fresh rows could have ended."""
    return next((record for record in records if record.evaluation.verdict != "inconclusive"), None)


def trends_of_evidence(records: Sequence[Record], rule: ComparisonRule) -> Figure:
    """The evidence that the candidate is worse, look by look, for each measure and slice with most of it."""
    shown = records[-_MOST_EVALUATIONS:]
    grown: dict[str, list[float]] = {}
    for position, record in enumerate(shown):
        for row in record.rows:
            curve = grown.setdefault(f"{row['slice']}: {row['measure']}", [0.0] * position)
            curve += [curve[-1] if curve else 0.0] * (position - len(curve))
            curve.append(curve[-1] if row["p_worse"] is None and curve else -math.log10(row["p_worse"] or 1.0))
    needed = -math.log10(rule.level_of_one(len(records[0].rows)))
    most = sorted(grown, key=lambda title: -grown[title][-1])[:_MOST_CURVES]
    stop = stopping_look(shown)
    panels = [
        _curve(f"evidence-{number}", title, grown[title], shown, needed, None if stop is None else shown.index(stop))
        for number, title in enumerate(most)
    ]
    return Figure(
        title="The evidence so far that the candidate is worse",
        caption=(
            "Decimal logarithm of the largest e-value of all looks so far: 2 is a hundred to one. Dashed: where the "
            "first of all tests fails. Dotted: the look that could have been the last."
        ),
        body=svg.side_by_side(panels),
    )


def _curve(
    name: str, title: str, grown: Sequence[float], records: Sequence[Record], needed: float, stop: int | None
) -> Markup:
    top = 1.1 * max(needed, *grown)
    axes = Axes(width=_WIDTH, height=150, left=_LEFT, x_limits=(0, max(len(records), 2)), y_limits=(0, top))
    points = [(position + 0.5, value) for position, value in enumerate(grown)]
    days = [f"{record.evaluation.at:%b %d}" for record in records]
    parts = [axes.across("level", needed), axes.line("observed", points), axes.dot(*points[-1], 3)]
    parts += [axes.upwards("margin", stop + 0.5)] if stop is not None else []
    parts += [axes.y_axis(), axes.x_axis(ticks=list(_days(days)))]
    description = f"{count_of(len(records), 'look')}: {grown[-1]:.1f} after the last, {needed:.1f} needed."
    return _titled(title, axes.drawing(name, f"Evidence, {title}", description, *parts))


def last_evaluations(records: Sequence[Record]) -> Sequence[Record]:
    """The evaluations that trends show, by the dates of the candidates."""
    return sorted(records, key=lambda record: record.evaluation.at)[-_MOST_EVALUATIONS:]


def _trends(
    records: Sequence[Record], is_wanted: Callable[..., bool], columns: tuple[str, str, str]
) -> dict[str, list[Point]]:
    """The points of each trend by its title; `columns`: of the value and of the ends of its interval."""
    by_title: dict[str, list[Point]] = {}
    for record in records:
        about = record.evaluation
        name = f"{PurePath(about.candidate).name}, {about.at:%Y-%m-%d %H:%M}"
        for row in filter(is_wanted, record.rows):
            if row["difference"] is None:
                continue
            title = row["measure"] if row["slice"] == ALL_ROWS else f"{row['slice']}: {row['measure']}"
            scale = 100 if _in_points(row["measure"]) else 1
            value, low, high = (None if row[column] is None else scale * row[column] for column in columns)
            reference = 0.0 if columns[0] == "difference" else scale * row["baseline_value"]
            point = Point(f"{about.at:%b %d}", name, value or 0.0, low, high, reference, row["row_verdict"] or "")
            by_title.setdefault(title, []).append(point)
    return by_title


def _in_points(name: str) -> bool:
    """True if a measure, possibly of one of several scores, is stated in percentage points."""
    try:
        return MEASURES[name.partition(" of ")[0]].in_points
    except (KeyError, ValueError):  # a measure of a package that is not installed here has a unit of its own
        return False


def _panel(name: str, title: str, trend: Sequence[Point], height: float, *, unit: str = "") -> Markup:
    ends = [end for point in trend for end in (point.value, point.low, point.high, point.reference) if end is not None]
    room = 0.06 * ((max(ends) - min(ends)) or 1)
    axes = Axes(
        width=_WIDTH,
        height=height,
        left=_LEFT,
        x_limits=(0, last_x := max(len(trend), 2)),
        y_limits=(min(ends) - room, max(ends) + room),
    )
    reference = [(position + side, point.reference) for position, point in enumerate(trend) for side in (0, 1)]
    reference[-1] = (last_x, trend[-1].reference)
    parts = [
        axes.line("level", reference),
        axes.y_axis(unit=unit),
        axes.x_axis(ticks=list(_days([point.day for point in trend]))),
    ]
    for position, point in enumerate(trend):
        middle = position + 0.5
        if point.low is not None and point.high is not None:
            parts.append(axes.line(f"interval {point.verdict}", [(middle, point.low), (middle, point.high)]))
        mark = svg.verdict_mark(axes.x(middle), axes.y(point.value), point.verdict)
        parts.append(Markup("<g><title>{}: {}{}</title>{}</g>").format(point.name, f"{point.value:.2f}", unit, mark))
    last = trend[-1]
    failed = sum(point.verdict == "fail" for point in trend)
    description = (
        f"{count_of(len(trend), 'evaluation')}, {failed} failed; "
        f"the last is {last.value:.2f} beside {last.reference:.2f}."
    )
    return _titled(title, axes.drawing(name, f"{title} over time", description, *parts))


def _titled(title: str, drawing: Markup) -> Markup:
    return Markup('<div class="trend"><p><b>{}</b></p>{}</div>').format(title, drawing)


def _days(days: Sequence[str]) -> Iterator[tuple[float, str]]:
    for position, day in enumerate(days):
        if position == 0 or day != days[position - 1]:
            yield position + 0.5, day
