"""Reliability of stated confidence: how often the classifier that a test is so sure of is the better one in truth.

Keller, Mariethoz and Bengio hold the confidence of one test set against other test sets and leave open whether the
bootstrap has an intrinsic bias. Here every test set states a confidence, and the population says whether it is right.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from sigstats.intervals import clopper_pearson
from sigstats.tasks.populations.population import EventPopulation, Population
from sigstats.tasks.populations.tests import measure_of
from sigstats.tasks.replicates.subsample import population
from sigstats.tasks.schema import Hypothesis

from ..axes import Axes
from ..evidence import Evidence, group_by
from ..figure import Figure, FigureKind
from ..wording import count_of, percent

_SIDE = 236.0
#: Test sets are grouped by their stated confidence between these.
BINS = np.array([0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.975, 0.99, 1.0])
#: So many sizes are shown: the smallest, the largest and some between.
_MOST = 4


@dataclass(frozen=True)
class Statements:
    """What a test states on test sets of one size.

    Attributes
    ----------
    stated : ndarray of float64
        On each test set its confidence that the classifier which is better there is better in truth, at least 1/2.
    right : ndarray of bool
        Whether that classifier is.
    """

    stated: NDArray[np.float64]
    right: NDArray[np.bool_]

    @property
    def bias(self) -> float:
        """By how much the mean stated confidence is above the share that is right."""
        return float(self.stated.mean() - self.right.mean())


def draw(evidence: Evidence) -> Iterator[Figure]:
    """One figure for each test and data set, a panel for some of its sizes; all populations of a data set together."""
    groups = group_by(list(evidence.of("calibration")), lambda row: (row.dataset, row.method))
    for number, ((dataset, method), rows) in enumerate(groups.items()):
        sizes = {n: statements(group, evidence) for n, group in group_by(rows, lambda row: row.n or 0).items()}
        known = {n: said for n, said in sorted(sizes.items()) if said is not None}
        if not known:
            continue
        panels = [_panel(f"reliability-{number}-{n}", method, n, known[n]) for n in _some(list(known))]
        yield Figure(
            title=f"Reliability of the confidence stated by {method}, {dataset}",
            caption=(
                "Across the confidence that a test states on a test set, that the classifier which is better there is "
                "better in truth (1 less half the two-sided p); upwards the share of test sets on which that is right, "
                "with its 95% interval. On the dashed line it is right as often as stated; below it, less often. Where "
                "the true difference is large for the number of rows every test is right more often than it says, and "
                "where it is small less often: no test knows how large it is."
            ),
            body=Markup('<div class="panels">{}</div>').format(Markup("").join(panels)),
        )


def _some(sizes: Sequence[int]) -> list[int]:
    if len(sizes) <= _MOST:
        return list(sizes)
    return [sizes[round(index * (len(sizes) - 1) / (_MOST - 1))] for index in range(_MOST)]


def statements(rows: Sequence[Hypothesis], evidence: Evidence) -> Statements | None:
    """What a test states in all populations in which one classifier is better; None where there is none."""
    stated, right = [], []
    for cell in dict.fromkeys(cell for row in rows for cell in evidence.cells_of(row) if cell.fanout == "subsample"):
        table, test = evidence.results.table(cell), cell.work["test"]
        drawn_from = population(cell.work, evidence.results.store)
        if table is None or not isinstance(drawn_from, (Population, EventPopulation)):
            continue
        truth = _advantage(drawn_from, test)
        if truth == 0 or _one_side_alone(test):
            continue
        ahead, p = table.column("advantage").to_numpy(), table.column("p_value").to_numpy()
        decided = (ahead != 0) & ~np.isnan(p)
        stated.append(confidences(p, ahead, test["alternative"])[decided])
        right.append((ahead * truth > 0)[decided])
    if not stated or not sum(map(len, stated)):
        return None
    return Statements(np.concatenate(stated), np.concatenate(right))


def _one_side_alone(test: dict[str, object]) -> bool:
    """Whether 1 - p of a test is not the p-value of its other side: the observed counts belong to both tails."""
    return test["test"] == "mcnemar" and test["alternative"] != "two-sided" and test["method"] == "exact"


def _advantage(drawn_from: Population | EventPopulation, test: dict[str, object]) -> float:
    """By how much B is better in truth."""
    if drawn_from.swapped:
        return 0.0
    measure = measure_of(test)
    if test["test"] == "bootstrap":
        found = drawn_from.difference(measure)
    else:  # of right and wrong answers
        only_a, only_b = drawn_from.discordant
        found = only_b - only_a if measure.name == "accuracy" else drawn_from.difference(measure)
    return found if measure.greater_is_better else -found


def confidences(p: NDArray[np.float64], ahead: NDArray[np.float64], alternative: str) -> NDArray[np.float64]:
    """The stated confidence in the classifier that is better on each test set, from the p-values.

    Two-sided p is twice the smaller one-sided p, so that the confidence is 1 - p / 2. One-sided it is 1 - p where the
    alternative is that this classifier is better, and p where it is the other.
    """
    if alternative == "two-sided":
        return 1 - p / 2
    named = ahead > 0 if alternative == "less" else ahead < 0
    found: NDArray[np.float64] = np.where(named, 1 - p, p)
    return found


def binned(said: Statements) -> list[tuple[float, float, float, float, int]]:
    """For each bin that holds a test set: the mean stated, the share that is right, its interval, how many."""
    which = np.clip(np.searchsorted(BINS, said.stated, side="right") - 1, 0, len(BINS) - 2)
    found = []
    for index in np.unique(which):
        inside = which == index
        count, total = int(np.count_nonzero(said.right[inside])), int(np.count_nonzero(inside))
        low, high, _ = clopper_pearson(count, total)
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
        Markup('<path class="observed" d="{}"/>').format(bars),
        *(axes.dot(100 * x, 100 * share, 2.5) for x, share, *_ in points),
        axes.y_axis(unit="%"),
        axes.x_axis("stated", unit="%"),
    ]
    summary = f"stated {percent(float(said.stated.mean()))} on average, right on {percent(float(said.right.mean()))}"
    described = "; ".join(f"{percent(share)} of {total:,} at {percent(x)}" for x, share, _, _, total in points)
    size = count_of(n, "row")
    return Markup("<figure><figcaption><strong>{}</strong>: {}</figcaption>{}</figure>").format(
        size, summary, axes.drawing(name, f"{method}, {size}: reliability", f"Right on {described}.", *parts)
    )


KIND = FigureKind(order=9, draw=draw)
