"""Reliability of stated confidence: how often the classifier that a test is so sure of is the better one in truth.

Keller, Mariethoz and Bengio hold the confidence of one test set against other test sets and leave open whether the
bootstrap has an intrinsic bias. Here every test set states a confidence, and the population says whether it is right.
"""

from collections.abc import Iterator

import numpy as np
from markupsafe import Markup

from sigstats.intervals import clopper_pearson

from ...pages import svg
from ...pages.svg import Axes
from ...pages.wording import count_of, percent
from ..evidence import Evidence, group_by, some_of
from ..replicates import Statements, statements
from ..section import Figure

ORDER = 9
_SIDE = 236.0
#: Test sets are grouped by their stated confidence between these.
BINS = np.array([0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.975, 0.99, 1.0])


def draw(evidence: Evidence) -> Iterator[Figure]:
    """One figure for each test and data set, a panel for some of its sizes; all populations of a data set together."""
    groups = group_by(list(evidence.of("calibration")), lambda row: (row.dataset, row.method))
    for number, ((dataset, method), rows) in enumerate(groups.items()):
        sizes = {n: statements(group, evidence) for n, group in group_by(rows, lambda row: row.n or 0).items()}
        known = {n: said for n, said in sorted(sizes.items()) if said is not None}
        if not known:
            continue
        panels = [_panel(f"reliability-{number}-{n}", method, n, known[n]) for n in some_of(list(known))]
        yield Figure(
            title=f"Reliability of the confidence stated by {method}, {dataset}",
            caption=(
                "Across the confidence that a test states on a test set, that the classifier which is better there is "
                "better in truth (1 less half the two-sided p); upwards the share of test sets on which that is right, "
                "with its 95% interval. On the dashed line it is right as often as stated; below it, less often. Where "
                "the true difference is large for the number of rows every test is right more often than it says, and "
                "where it is small less often: no test knows how large it is."
            ),
            body=svg.panels(panels),
        )


def binned(said: Statements) -> list[tuple[float, float, float, float, int]]:
    """For each bin that holds a test set: the mean stated, the share that is right, its interval, how many."""
    which = np.clip(np.searchsorted(BINS, said.stated, side="right") - 1, 0, len(BINS) - 2)
    found = []
    for index in np.unique(which):
        inside = which == index
        count, total = int(np.count_nonzero(said.right[inside])), int(np.count_nonzero(inside))
        low, high = clopper_pearson(count, total)
        found.append((float(said.stated[inside].mean()), count / total, low, high, total))
    return found


def _panel(name: str, method: str, n: int, said: Statements) -> Markup:
    points = binned(said)
    least = 100 * min(0.5, *(low for _, _, low, _, _ in points))
    low_x = 100 * min(0.5, float(said.stated.min()))
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
    summary = f"stated {percent(float(said.stated.mean()))} on average, right on {percent(float(said.right.mean()))}"
    described = "; ".join(f"{percent(share)} of {total:,} at {percent(x)}" for x, share, _, _, total in points)
    size = count_of(n, "row")
    return svg.panel(
        size, axes.drawing(name, f"{method}, {size}: reliability", f"Right on {described}.", *parts), summary
    )
