"""Two recipes that were run several times: the runs are independent units, not their answers.

Each run of a recipe, such as a training with a seed of its own, answers the same items. The null hypothesis is that the
means of a measure over all runs that the recipes could have are equal; spreads may differ, and one recipe may have no
spread (temperature 0). Welch's test (1947, Biometrika 34, 28-35) assumes runs that are nearly normal, or many. A few
runs cannot show that: a run in ten that is far better than the others is missing from five runs in 59% of all cases,
and no test of so few holds without an assumption. The p-value is at least that of the most extreme division of the runs
among two exchangeable recipes, and the interval has no ends if that p-value is too large. A recipe with one run shows
no spread, so that of the other recipe is used.

When not to use: answers that one trained model gave several times (its items are what is independent); other test sets,
since the items are taken as given.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import stdtr, stdtrit

from ..._common.extreme import TIE_TOLERANCE, difference
from ..._common.validation import FloatArray, IntArray
from ...intervals import Interval, clopper_pearson
from ...measures.table import MEASURES
from ...ranking.means import student_interval
from ..evidence import Runs
from ..rows import ComparisonRow
from ..rule import ComparisonRule, RowTest
from .mean_tests import infinite_loss


@dataclass(frozen=True, kw_only=True)
class RunsResult:
    """P-values of "B is not worse" and "both are equally good", interval of B - A, and number of divisions.

    The ends are infinite if there are too few divisions of the runs.
    """

    pvalue: float
    two_sided_pvalue: float
    low: float
    high: float
    divisions: int


def runs_test(
    a: FloatArray, b: FloatArray, *, confidence_level: float = 0.95, divisions: int | None = None
) -> RunsResult:
    """Test by Welch's t whether recipe B is worse than A; p is at least 1 / `divisions`.

    If all values of A are equal, A is treated as a constant. `divisions`: by default the number of ways to divide all
    runs between two recipes.
    """
    ahead = float(b.mean() - a.mean())
    if abs(ahead) <= TIE_TOLERANCE * max(float(np.abs(a).max()), float(np.abs(b).max())):
        ahead = 0.0
    error, freedom = _error_and_freedom(a, b)
    below = float(stdtr(freedom, ahead / error)) if error else float(ahead >= 0)
    divisions = divisions or math.comb(len(a) + len(b), len(a))
    # Otherwise even the most extreme division leaves a two-sided p-value above 1 - confidence_level.
    ends = divisions * (1 - confidence_level) * (1 + 1e-9) >= 2
    reach = float(stdtrit(freedom, (1 + confidence_level) / 2)) * error if ends else math.inf
    either = 2 * min(below, 1 - below) if ahead else 1.0
    return RunsResult(
        pvalue=max(below, 1 / divisions),
        two_sided_pvalue=min(1.0, max(either, 2 / divisions)),
        low=ahead - reach,
        high=ahead + reach,
        divisions=divisions,
    )


def _error_and_freedom(a: FloatArray, b: FloatArray) -> tuple[float, float]:
    """Return the standard error of the difference of the means, and its degrees of freedom.

    They are Welch's, but no more than those of two recipes with the smaller number of runs each: with 2 and 20 runs
    Welch's test rejects in 8% of cases at the 5% level if the means are equal, and its 95% intervals miss in 12%.
    """
    sides = [difference(side, np.full(len(side), side[0])) for side in (a, b) if len(side) > 1]
    if not sides:
        return math.inf, 1.0
    variances = [float(side.var(ddof=1)) for side in sides]
    # A recipe with one run borrows the variance of the other.
    shares = [variance / len(side) for variance, side in zip(variances[:1] + variances[-1:], (a, b), strict=True)]
    square = sum(shares)
    if len(sides) == 1 or square == 0:
        return math.sqrt(square), float(len(sides[0]) - 1)
    # Of shares, as the squares of small ones are no floats.
    parts = sum((share / square) ** 2 / (len(side) - 1) for share, side in zip(shares, sides, strict=True))
    fewest = min(len(side) for share, side in zip(shares, sides, strict=True) if share)
    return math.sqrt(square), min(1 / parts, 2.0 * (fewest - 1))


def test_runs(row: ComparisonRow, part: Runs, rule: ComparisonRule, tasks: IntArray | None) -> ComparisonRow:
    """Return the row with its means over the runs of both recipes, tested. Each of `tasks` counts the same."""
    values = [part.values(side, tasks) for side in (0, 1)]
    a, b = values
    if np.isinf(np.concatenate(values)).any():
        return infinite_loss(row, [int(np.isinf(value).sum()) for value in values], "runs")
    if not np.isfinite(np.concatenate(values)).all():
        return replace(row, note="only one class: nothing can be tested")
    result = runs_test(a, b, confidence_level=rule.confidence_level)
    least, _ = (part.limits or (0.0, 1.0)) if (in_points := MEASURES[row.measure].in_points) else (0.0, 1.0)
    span = 1.0 - least if in_points else math.inf
    low, high = max(result.low, -span), min(result.high, span)
    if low == high == 0:  # no run is seen to differ: other items may
        high = clopper_pearson(0, row.n, confidence_level=rule.confidence_level).high if span < math.inf else math.inf
        low = -high
    notes = ["takes runs as nearly normal"]
    if rule.alpha * result.divisions < 1:
        notes.append(f"p is at least 1/{result.divisions}, add runs")
    notes += [
        f"one run of the {name}, assumed to vary like those of the other: add a second"
        for name, value in zip(("baseline", "candidate"), values, strict=True)
        if len(value) == 1
    ]
    of_runs = [student_interval(value, None, rule.confidence_level) for value in values]
    if span < math.inf:
        of_runs = [Interval(max(run[0], least), min(run[1], 1.0), rule.confidence_level) for run in of_runs]
    spread = [value.var(ddof=1) / len(value) for value in values if len(value) > 1]
    return replace(
        row,
        baseline_interval=of_runs[0],
        candidate_interval=of_runs[1],
        baseline=float(a.mean()),
        candidate=float(b.mean()),
        difference=float(b.mean() - a.mean()),
        low=low if math.isfinite(low) else None,
        high=high if math.isfinite(high) else None,
        standard_error=math.sqrt(sum(spread)) if len(spread) == 2 else None,
        test=RowTest(f"Welch's t of {len(a)} and {len(b)} runs", "runs"),
        pvalue=result.pvalue,
        two_sided_pvalue=result.two_sided_pvalue,
        differing=int(part.differs.sum()),
        note="; ".join(notes),
    )
