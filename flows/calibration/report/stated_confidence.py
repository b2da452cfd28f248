"""Stated confidence: the bootstrap of one test set (Keller, Mariethoz and Bengio, Figure 1), and its reliability.

Keller, Mariethoz and Bengio compare the confidence of one test set with other test sets and leave open whether the
bootstrap has an intrinsic bias. For reliability every test set states a confidence, and the population shows how often
the classifier that the test prefers is truly better.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from sigstats._common.numerals import count_of, number, percent
from sigstats.intervals import clopper_pearson
from sigstats.tasks.calibration.work import AppliedTest, Tested
from sigstats.tasks.schema import Hypothesis

from ...pages import svg
from ...pages.svg import Axes
from ...report.evidence import Evidence, Figure
from ...report.rows import group_by, some_sizes
from ...report.usual_columns import where

#: The size of a histogram, and the side of a plot of reliability.
_WIDTH, _HEIGHT, _SIDE = 300.0, 150.0, 236.0
#: Ends of the groups of test sets by stated confidence.
BINS = np.array([0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.975, 0.99, 1.0])


@dataclass(frozen=True)
class Statements:
    """Stated confidences of a test on test sets of one size."""

    #: Confidence on each test set that the classifier that is better there is truly better; at least 1/2.
    stated: NDArray[np.float64]
    #: Mask of the test sets on which that classifier is truly better.
    right: NDArray[np.bool_]


def draw_resampled(evidence: Evidence) -> Iterator[Figure]:
    """Yield a figure with a panel for each bootstrap of trained classifiers, those of one measure side by side."""
    panels = []
    groups = group_by(list(evidence.rows_of("confidence")), lambda row: row.method).values()
    for index, row in enumerate(row for group in groups for row in group):
        if row.resampled is not None:
            panels.append(_histogram(f"resampled-{index}", row, json.loads(row.resampled)))
    if panels:
        yield Figure(
            title="Resampled differences on a single test set",
            caption=(
                "Bootstrap replicates of the difference between the classifier that is better on the test set and the "
                "other. The share of replicates above zero is the stated confidence. "
                "The shaded part contains 95% of the replicates, centred at their mean: if 0 is outside, the "
                "two differ with 95% confidence (Keller, Mariethoz and Bengio, Figure 1 and equation 14)."
            ),
            body=svg.side_by_side(panels),
        )


def _histogram(name: str, row: Hypothesis, result: Mapping[str, Any]) -> Markup:
    width, mean, counts = result["width"], result["mean"], np.array(result["counts"])
    left = (result["first"] + np.arange(len(counts))) * width
    axes = Axes(
        width=_WIDTH, height=_HEIGHT, left=9, right=9, x_limits=(float(left[0]), float(left[-1] + width)), bottom=38
    )
    heights = np.maximum(counts / counts.max() * (axes.base - axes.top), np.where(counts > 0, 0.8, 0.0))
    positions = np.array([axes.x(value) for value in left.tolist()])
    step = axes.x(float(left[0]) + width) - axes.x(float(left[0]))
    below_zero = left < -1e-15
    band = [float(np.clip(mean + side * result["reach"], left[0], left[-1] + width)) for side in (-1, 1)]
    parts = [
        axes.band(band, [0.0, 0.0], [1.0, 1.0]),
        *(
            svg.path(css, svg.bars(np.where(shown, heights, 0.0), positions, step, axes.base))
            for css, shown in (("null", ~below_zero), ("extreme", below_zero))
            if (shown & (counts > 0)).any()
        ),
        axes.upwards("observed", 0.0),
        axes.x_axis(f"difference in {row.measure}", most=4),
    ]
    description = (
        f"{result['replicates']:,} replicates, mean {number(mean, 4)}, observed {number(result['observed'], 4)}; "
        f"{percent(result['above'])} are above 0."
    )
    title = f"{where(row)}: {row.method}, {percent(row.statistic or 0.0)} sure of {row.b}"
    return Markup('<figure class="trend resampled"><h4>{}</h4>{}</figure>').format(
        title, axes.drawing(name, title, description, *parts)
    )


def statements_of(evidence: Evidence) -> Iterator[tuple[str | None, str, dict[int, Statements]]]:
    """Yield each data set and method with its statements by size, over all populations of the data set."""
    groups = group_by(list(evidence.rows_of("calibration")), lambda row: (row.dataset, row.method))
    for (dataset, method), rows in groups.items():
        sizes = {n: statements_of_test(group, evidence) for n, group in group_by(rows, lambda row: row.n or 0).items()}
        if known := {n: of_size for n, of_size in sorted(sizes.items()) if of_size is not None}:
            yield dataset, method, known


def draw_reliability(evidence: Evidence) -> Iterator[Figure]:
    """Yield a figure for each test and data set, with all populations, and panels for some of the sizes."""
    for place, (dataset, method, known) in enumerate(statements_of(evidence)):
        panels = [_reliability(f"reliability-{place}-{n}", method, n, known[n]) for n in some_sizes(list(known))]
        yield Figure(
            title=f"Reliability of the confidence stated by {method}, {dataset}",
            caption=(
                "Horizontal: the confidence of a test that the classifier that is better on a test set is truly better "
                "(1 minus half the two-sided p). Vertical: the share of test sets on which this is right, with its "
                "95% interval. On the dashed line it is right as often as stated; below it, less often. If the true "
                "difference is large for the number of rows, every test is right more often than stated, and if it is "
                "small, less often: no test knows its size."
            ),
            body=svg.side_by_side(panels, "panels"),
        )


def binned(statements: Statements) -> list[tuple[float, float, float, float, int]]:
    """Return the mean stated confidence, the share that is right, its interval and the number, by non-empty bin."""
    bins = np.clip(np.searchsorted(BINS, statements.stated, side="right") - 1, 0, len(BINS) - 2)
    items = []
    for index in np.unique(bins):
        inside = bins == index
        count, total = int(np.count_nonzero(statements.right[inside])), int(np.count_nonzero(inside))
        low, high = clopper_pearson(count, total)
        items.append((float(statements.stated[inside].mean()), count / total, low, high, total))
    return items


def _reliability(name: str, method: str, n: int, statements: Statements) -> Markup:
    points = binned(statements)
    least = 100 * min(0.5, *(low for _, _, low, _, _ in points))
    low_x = 100 * min(0.5, float(statements.stated.min()))
    axes = Axes(width=_SIDE, height=_SIDE, x_limits=(low_x, 100.0), y_limits=(least, 100.0))
    bars = "".join(axes.path([(100 * x, 100 * low), (100 * x, 100 * high)]) for x, _, low, high, _ in points)
    start = max(low_x, least)
    parts = [
        axes.line("level", [(start, start), (100, 100)]),
        axes.line("mean", [(100 * x, 100 * share) for x, share, *_ in points]),
        svg.path("observed", bars),
        *(axes.dot(100 * x, 100 * share, 2.5) for x, share, *_ in points),
        axes.y_axis(unit="%"),
        axes.x_axis("stated", unit="%"),
    ]
    stated, right = percent(float(statements.stated.mean())), percent(float(statements.right.mean()))
    summary = f"stated {stated} on average, right on {right}"
    described = "; ".join(f"{percent(share)} of {total:,} at {percent(x)}" for x, share, _, _, total in points)
    size = count_of(n, "row")
    drawn = axes.drawing(name, f"{method}, {size}: reliability", f"Right on {described}.", *parts)
    return svg.panel(size, drawn, summary)


def statements_of_test(rows: Sequence[Hypothesis], evidence: Evidence) -> Statements | None:
    """Return the statements of a test in all populations with a better classifier; None if there are none."""
    stated, right = [], []
    truths = {row.cell: row.truth for row in rows if row.truth}
    for name, truth in truths.items():
        cell = evidence.cells[name]
        table, test = evidence.results.table(cell), cell.work_of(Tested).test
        if table is None or cell.fanout == "tally" or _has_overlapping_tails(test):
            continue
        ahead, p = table.column("advantage").to_numpy(), table.column("p_value").to_numpy()
        decided = (ahead != 0) & ~np.isnan(p)
        stated.append(confidences(p, ahead, test.options["alternative"])[decided])
        right.append((ahead * truth > 0)[decided])
    if not stated or not sum(map(len, stated)):
        return None
    return Statements(np.concatenate(stated), np.concatenate(right))


def _has_overlapping_tails(test: AppliedTest) -> bool:
    """Return True for a one-sided exact test: both tails include the observed counts, so 1 - p is no confidence."""
    one_sided = test.options["alternative"] != "two-sided"
    return bool(test.test == "mcnemar" and one_sided and test.options["method"] == "exact")


def confidences(p: NDArray[np.float64], ahead: NDArray[np.float64], alternative: str) -> NDArray[np.float64]:
    """Convert p-values to confidences in the classifier that is better on each test set.

    A two-sided p is twice the smaller one-sided p, so the confidence is 1 - p / 2. A one-sided confidence is 1 - p if
    the alternative is that this classifier is better, otherwise p.
    """
    if alternative == "two-sided":
        return 1 - p / 2
    as_stated = ahead > 0 if alternative == "less" else ahead < 0
    return np.asarray(np.where(as_stated, 1 - p, p))
