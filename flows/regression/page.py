"""The report of a regression study: the last verdict, the trend of each measure, and the history as a table.

It is made from the history alone, and needs no network.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from markupsafe import Markup

from sigstats.comparison.paired_predictions import ALL_ROWS
from sigstats.comparison.result import ComparisonRow
from sigstats.measures.table import MEASURES
from sigstats.tasks.storage.history import Record
from sigstats.tasks.storage.store import Store

from ..comparison.cells import difference_in_words
from ..comparison.forest_plot import forest_plots
from ..comparison.sentences import TITLES, rule_in_words
from ..report import svg
from ..report.axes import Axes
from ..report.figure import Figure
from ..report.page import page
from ..report.wording import counted, p_number
from ..studies.regression import RegressionStudy

_LEFT, _WIDE, _NARROW = 46.0, 960.0, 300.0
#: A trend shows so many evaluations, the last ones.
_MOST = 60


@dataclass(frozen=True)
class Point:
    """One evaluation in a trend, in percent or percentage points, a mark or loss in its own unit."""

    day: str
    value: float
    low: float | None
    high: float | None
    reference: float
    verdict: str


def write_regression_report(
    store: Store, study: RegressionStudy, records: Sequence[Record], damaged: Sequence[str]
) -> str:
    """Write ``report.html``; return its location.

    Parameters
    ----------
    store : sigstats.tasks.storage.store.Store
    study : sigstats.flows.studies.regression.RegressionStudy
    records : sequence of sigstats.tasks.storage.history.Record
        In the order of time, at least one.
    damaged : sequence of str
        A line for each file of the history that cannot be used.
    """
    store.files.write("report.html", render(study, records, damaged).encode("utf-8", "replace"))
    return f"{store.root.rstrip('/')}/report.html"


def render(study: RegressionStudy, records: Sequence[Record], damaged: Sequence[str]) -> str:
    """The page."""
    latest = records[-1].evaluation
    rule = study.rule_at(latest.level)
    return page(
        "regression.html.j2",
        name=study.name,
        title=TITLES[latest.verdict],
        latest=latest,
        looked=looked(records),
        reasons=latest.reasons.splitlines(),
        rule=rule_in_words(rule, study.measures),
        damaged=damaged,
        forest=forest_plots([_as_row(row) for row in records[-1].rows], rule.margin),
        figures=list(_figures(records)),
        header=_HEADER,
        rows=[_cells(record) for record in reversed(records)],
    )


def _as_row(row: Mapping[str, Any]) -> ComparisonRow:
    kept = {name: row[name] for name in ("slice", "measure", "n", "difference", "low", "high")}
    return ComparisonRow(**kept, verdict=row["row_verdict"])


def looked(records: Sequence[Record]) -> str:
    """How often the rows that judged last have judged."""
    latest = records[-1].evaluation
    return (
        f"These rows have judged {counted(latest.look, 'candidate')}; this look had the level {latest.level:.3g}. "
        "A test set that is looked at again and again wears out."
        if latest.look > 1
        else f"The first candidate that these rows have judged; this look had the level {latest.level:.3g}."
    )


def _figures(records: Sequence[Record]) -> Iterator[Figure]:
    shown = records[-_MOST:]
    over_all = _trends(shown, lambda row: row["slice"] == ALL_ROWS, _value)
    bodies = [
        _panel(f"trend-{index}", measure, found, _WIDE, 210, unit="%" if MEASURES[measure].in_points else "")
        for index, (measure, found) in enumerate(over_all.items())
    ]
    note = f" The last {_MOST} of {len(records)} evaluations." if len(records) > _MOST else ""
    if bodies:
        yield Figure(
            title="Each measure over time, on all rows",
            caption=(
                "Each candidate with its interval: a blue disc passes, an orange diamond may be worse, a red square is "
                "worse. "
                f"The dashed line is the baseline of the time.{note}"
            ),
            body=Markup("").join(bodies),
        )
    on_slices = _trends(shown, lambda row: row["slice"] != ALL_ROWS, _difference)
    if on_slices:
        panels = [
            _panel(f"slice-{index}", title, found, _NARROW, 150)
            for index, (title, found) in enumerate(on_slices.items())
        ]
        yield Figure(
            title="Differences over time, slice by slice",
            caption=(
                "Candidate minus baseline with its interval, in percentage points, marks and losses in their own unit; "
                "the dashed line is no difference."
            ),
            body=Markup('<div class="trends">{}</div>').format(Markup("").join(panels)),
        )


def _trends(records: Sequence[Record], wanted: Any, point: Any) -> dict[str, list[Point]]:
    """The points of each trend by its title."""
    found: dict[str, list[Point]] = {}
    for record in records:
        for row in filter(wanted, record.rows):
            if row["difference"] is None:
                continue
            title = row["measure"] if row["slice"] == ALL_ROWS else f"{row['slice']}: {row['measure']}"
            found.setdefault(title, []).append(point(f"{record.evaluation.evaluated_at:%b %d}", row))
    return found


def _value(day: str, row: Mapping[str, Any]) -> Point:
    return _point(day, row, "candidate_value", "candidate_low", "candidate_high", row["baseline_value"])


def _difference(day: str, row: Mapping[str, Any]) -> Point:
    return _point(day, row, "difference", "low", "high", 0.0)


def _point(day: str, row: Mapping[str, Any], value: str, low: str, high: str, reference: float) -> Point:
    scale = 100 if MEASURES[row["measure"]].in_points else 1
    below, above = (None if row[name] is None else scale * row[name] for name in (low, high))
    return Point(day, scale * row[value], below, above, scale * reference, row["row_verdict"] or "")


def _panel(name: str, title: str, trend: Sequence[Point], width: float, height: float, *, unit: str = "") -> Markup:
    ends = [end for point in trend for end in (point.value, point.low, point.high, point.reference) if end is not None]
    room = 0.06 * ((max(ends) - min(ends)) or 1)
    axes = Axes(
        width=width,
        height=height,
        left=_LEFT,
        x_limits=(0, max(len(trend), 2)),
        y_limits=(min(ends) - room, max(ends) + room),
    )
    reference = [(position + side, point.reference) for position, point in enumerate(trend) for side in (0, 1)]
    parts = [axes.line("level", reference), axes.y_axis(unit=unit), axes.x_axis(ticks=list(_days(trend)))]
    for position, point in enumerate(trend):
        middle = position + 0.5
        if point.low is not None and point.high is not None:
            parts.append(axes.line(f"interval {point.verdict}", [(middle, point.low), (middle, point.high)]))
        parts.append(svg.verdict_mark(axes.x(middle), axes.y(point.value), point.verdict))
    last = trend[-1]
    failed = sum(point.verdict == "fail" for point in trend)
    description = (
        f"{counted(len(trend), 'evaluation')}, {failed} failed; "
        f"the last is {last.value:.2f} beside {last.reference:.2f}."
    )
    drawing = axes.drawing(name, f"{title} over time", description, *parts)
    return Markup('<div class="scroll trend"><h4>{}</h4>{}</div>').format(title, drawing)


def _days(trend: Sequence[Point]) -> Iterator[tuple[float, str]]:
    """The first evaluation of each day."""
    for position, point in enumerate(trend):
        if position == 0 or point.day != trend[position - 1].day:
            yield position + 0.5, point.day


_HEADER = (
    ("evaluated", False),
    ("candidate", False),
    ("baseline", False),
    ("verdict", False),
    ("smallest adjusted p", True),
    ("where", False),
    ("difference there", True),
    ("look", True),
    ("level", True),
)


def _cells(record: Record) -> tuple[str, list[tuple[str, str]]]:
    """The page of an evaluation, and its cells with their sort keys."""
    about = record.evaluation
    # Differences of several measures are not of one unit: what is most clearly worse is told by p.
    worst = min((row for row in record.rows if row["row_verdict"]), key=lambda row: (row["p_worse"], row["difference"]))
    return f"comparisons/{about.evaluation[:16]}.html", [
        (f"{about.evaluated_at:%Y-%m-%d %H:%M}", ""),
        (PurePath(about.candidate).name, ""),
        (PurePath(about.baseline).name, ""),
        (about.verdict, ""),
        (p_number(worst["p_adjusted"]), repr(worst["p_adjusted"])),
        (f"{worst['measure']} on {worst['slice']}", ""),
        (difference_in_words(_as_row(worst)), repr(worst["difference"])),
        (str(about.look), str(about.look)),
        (f"{about.level:.3g}", repr(about.level)),
    ]
