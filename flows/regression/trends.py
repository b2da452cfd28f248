"""The trends of a regression study, one panel each: measures over time, differences on slices, and the evidence."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from markupsafe import Markup

from sigstats._common.numerals import count_of
from sigstats.comparison.rule import ComparisonRule
from sigstats.comparison.units import ALL_ROWS
from sigstats.measures.table import MEASURES
from sigstats.tasks.storage import history
from sigstats.tasks.storage.history import Record

from ..pages import svg
from ..pages.svg import Axes
from ..report.evidence import Figure

#: Width on a phone.
_LEFT, _WIDTH = 46.0, 340.0
#: The most evaluations in a trend, which shows the last ones.
_MOST_EVALUATIONS = 40
#: The most measures and slices for which evidence is drawn.
_MOST_CURVES = 8


@dataclass(frozen=True)
class Point:
    """One evaluation in a trend, named by its candidate; in percent, in points, or in the unit of the measure."""

    day: str
    name: str
    value: float
    low: float | None
    high: float | None
    reference: float
    verdict: str
    #: If the row fails: the number of evaluations before this one in which it was already worse. Otherwise None.
    worse: int | None = None
    #: True if the evidence begins again.
    restarts: bool = False


def trends_of(records: Sequence[Record], reference: str, *, fresh: bool, name: str = "trend") -> Iterator[Figure]:
    """Yield figures of each measure on all rows, and of the differences on each slice; `fresh`: of fresh rows, by look.

    `reference`: baseline or bar. `name`: the beginning of the names of the panels.
    """
    looks = history.WINDOWS[0]
    note = f" The last {_MOST_EVALUATIONS} of {len(records)} evaluations." if len(records) > _MOST_EVALUATIONS else ""
    dots = f"Candidate minus {reference} in each look. " if fresh else "Each candidate on all rows, with its interval. "
    changed = f"rules, {reference}, ids or labels changed. Dashed: the {reference} of the time"
    lines = f"Line below: a fault. Dotted: {'evidence begins again' if fresh else changed}."
    over_all = _trends(records, True, looks if fresh else ("candidate_value", "candidate_low", "candidate_high"))
    panels = [
        _panel(f"{name}-{index}", title, trend, 190, unit="" if fresh or not _in_points(title) else "%")
        for index, (title, trend) in enumerate(over_all.items())
    ]
    caption = f"{dots}Squares: worse. Diamonds: undecided. Discs: not worse. {lines}{note}"
    yield Figure("Each measure over time, on all rows", caption, Markup("").join(panels))
    on_slices = _trends(records, False, looks if fresh else ("difference", "low", "high"))
    if on_slices:
        caption = f"Candidate minus {reference}, with interval, in points; marks and losses in their own unit."
        panels = [_panel(f"slice-{index}", title, part, 150) for index, (title, part) in enumerate(on_slices.items())]
        yield Figure("Differences over time, slice by slice", caption, svg.side_by_side(panels))


def trends_of_evidence(records: Sequence[Record], rule: ComparisonRule) -> Figure:
    """Return the evidence at each look that the candidate is worse, for the measures and slices with the most of it."""
    grown: dict[str, list[Point]] = {}
    needed = -math.log10(rule.level_of_one(len(records[0].rows)))
    for record in last_evaluations(records):
        day, verdict = f"{record.evaluation.at:%b %d}", record.evaluation.verdict
        for row in record.rows:
            value = -math.log10(row["p_worse"] or 1.0)
            point = Point(day, day, value, None, None, needed, row["row_verdict"] or verdict)
            grown.setdefault(f"{row['slice']}: {row['measure']}", []).append(point)
    most = sorted(grown, key=lambda title: -max(point.value for point in grown[title]))[:_MOST_CURVES]
    caption = (
        "Minus the decimal logarithm of p. It is the logarithm of the largest e-value of all looks so far, where 2 "
        "means a hundred to one, or with looks.run_length that of the number of looks in which one equally strong "
        "false alarm is expected. Dashed: where the first of all tests fails. After a repair it starts again at 0."
    )
    panels = [_panel(f"evidence-{index}", title, grown[title], 150) for index, title in enumerate(most)]
    return Figure("The evidence so far that the candidate is worse", caption, svg.side_by_side(panels))


def last_evaluations(records: Sequence[Record]) -> Sequence[Record]:
    """Return the evaluations that trends show, by the dates of the candidates."""
    return sorted(records, key=lambda record: record.evaluation.at)[-_MOST_EVALUATIONS:]


def _trends(records: Sequence[Record], on_all_rows: bool, columns: tuple[str, ...]) -> dict[str, list[Point]]:
    """Return the points of each trend by its title; `columns`: of the value and of the ends of its interval."""
    by_title: dict[str, list[Point]] = {}
    for record in last_evaluations(records):
        about, begun = record.evaluation, record.evaluation.segment or 1
        restarts = begun > 1 and records[begun - 1 : begun] == [record]
        day, name = f"{about.at:%b %d}", f"{PurePath(about.candidate).name}, {about.at:%Y-%m-%d %H:%M}"
        for row in record.rows:
            if row[columns[0]] is None or (row["slice"] == ALL_ROWS) != on_all_rows:
                continue
            title = row["measure"] if on_all_rows else f"{row['slice']}: {row['measure']}"
            scale = 100 if _in_points(row["measure"]) else 1
            value, low, high = (None if row[column] is None else scale * row[column] for column in columns)
            reference = 0.0 if columns[0].endswith("difference") else scale * row["baseline_value"]
            verdict = row["row_verdict"] or ""
            fails = 0 if verdict == "fail" else None
            worse = fails if row["change"] is None else about.look - row["change"]
            point = Point(day, name, value or 0.0, low, high, reference, verdict, worse, restarts)
            by_title.setdefault(title, []).append(point)
    return by_title


def _in_points(name: str) -> bool:
    """Return True if a measure, possibly of one of several scores, is stated in percentage points."""
    try:
        return MEASURES[name.partition(" of ")[0]].in_points
    except (KeyError, ValueError):  # a measure of a package that is not installed here has a unit of its own
        return False


def _panel(name: str, title: str, trend: Sequence[Point], height: float, *, unit: str = "") -> Markup:
    """Draw a trend: a mark and an interval for each evaluation, the reference as a stepped line."""
    ends = [end for point in trend for end in (point.value, point.low, point.high, point.reference) if end is not None]
    room = 0.06 * ((max(ends) - min(ends)) or 1)
    last_x, y_limits = max(len(trend), 2), (min(ends) - room, max(ends) + room)
    axes = Axes(width=_WIDTH, height=height, left=_LEFT, x_limits=(0, last_x), y_limits=y_limits)
    days = [point.day for point in trend]
    reference = [(position + side, point.reference) for position, point in enumerate(trend) for side in (0, 1)]
    reference[-1] = (last_x, trend[-1].reference)
    parts = [
        axes.line("level", reference),
        axes.y_axis(unit=unit),
        axes.x_axis(ticks=[(at + 0.5, day) for at, day in enumerate(days) if at == 0 or day != days[at - 1]]),
    ]
    for position, point in enumerate(trend):
        middle = position + 0.5
        if point.restarts:
            parts.append(axes.upwards("margin", position))
        if point.worse is not None:
            bar = [(at, y_limits[0]) for at in (max(0, position - point.worse), position + 1)]
            parts.append(axes.line("interval fail", bar))
        if point.low is not None and point.high is not None:
            parts.append(axes.line(f"interval {point.verdict}", [(middle, point.low), (middle, point.high)]))
        mark = svg.verdict_mark(axes.x(middle), axes.y(point.value), point.verdict)
        parts.append(Markup("<g><title>{}: {}{}</title>{}</g>").format(point.name, f"{point.value:.2f}", unit, mark))
    last = trend[-1]
    failed = sum(point.verdict == "fail" for point in trend)
    evaluations = count_of(len(trend), "evaluation")
    description = f"{evaluations}, {failed} failed; the last is {last.value:.2f}, compared with {last.reference:.2f}."
    drawing = axes.drawing(name, f"{title} over time", description, *parts)
    return Markup('<div class="trend"><p><b>{}</b></p>{}</div>').format(title, drawing)
