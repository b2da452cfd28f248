r"""Two recipes of which each was run several times: the runs are what is independent, not their answers.

Each run of a recipe, such as a training with a seed of its own, answers the same items. If the recipes are equally
good, their runs could be exchanged, so that all divisions of the runs among the two are equally likely (Fisher 1935;
Pitman 1937). Let :math:`D` be the difference of the two means of a measure, :math:`D_S` that of division S and
:math:`c_S = m (1 / K_A + 1 / K_B)` with the m runs of B that S gives to A. If B's runs are all better by
:math:`\delta`, the p-value of :math:`\delta` is the share of divisions with :math:`(D - D_S) / c_S \ge \delta` (and the
observed one), so that the ends of an exact interval of :math:`\delta` are order statistics of these ratios.

Recipes with equal means whose runs are unlike spread cannot be exchanged. Where both have as many runs, the level holds
all the same; where the numbers differ, p is the larger one of that of the divisions and Welch's (1947), and the
interval holds both intervals.

When not to use: answers that one trained model gave several times (its items are what is independent); other test sets,
since the items are taken as given.
"""

import math
from dataclasses import dataclass, replace
from itertools import chain, combinations

import numpy as np
from scipy.special import stdtr, stdtrit

from .._common.extreme import TIE_TOLERANCE
from .._common.random_streams import as_generator
from .._common.validation import FloatArray, IntArray
from ..intervals import clopper_pearson
from ..measures.formulas import Confusion
from ..measures.measure import as_measure
from ..measures.table import MEASURES, refers_to_one_class
from ..ranking.means import mean_interval
from .mean_tests import infinite_loss
from .part import Part
from .rows import PERMUTATION, ComparisonRow
from .rule import ComparisonRule

#: More divisions are drawn, not listed.
_MOST = 200_000


@dataclass(frozen=True, kw_only=True)
class RunsResult:
    """The p-values of "B is not worse" and of "both are equally good", the interval of B less A, and the divisions.

    The ends are infinite where no division is extreme enough; `drawn` is None where all divisions are listed.
    """

    pvalue: float
    two_sided_pvalue: float
    low: float
    high: float
    divisions: int
    drawn: int | None


def runs_test(
    a: FloatArray, b: FloatArray, *, confidence_level: float = 0.95, most: int = 10_000, seed: int = 0
) -> RunsResult:
    """Test by all divisions of the runs whether recipe B is worse than A; of more than 200,000 `most` are drawn.

    >>> found = runs_test(np.array([0.9, 0.91, 0.92, 0.93, 0.94]), np.array([0.85, 0.86, 0.87, 0.88, 0.89]))
    >>> found.divisions, round(found.pvalue * 252), round(found.low, 3), round(found.high, 3)
    (252, 1, -0.075, -0.025)
    """
    values, k, n = np.concatenate([a, b]), len(b), len(a) + len(b)
    divisions = math.comb(n, k)
    listed = divisions <= _MOST
    if listed:
        flat = np.fromiter(chain.from_iterable(combinations(range(n), k)), np.int64, k * divisions)
        of_b = flat.reshape(-1, k)
    else:
        of_b = np.argsort(as_generator(seed).random((most, n)), axis=1)[:, :k]
    sums = values[of_b].sum(axis=1)
    differences = sums / k - (values.sum() - sums) / len(a)
    observed = float(b.mean() - a.mean())
    room = TIE_TOLERANCE * max(float(np.abs(values).max()), 1e-300)
    total = len(of_b) if listed else len(of_b) + 1
    more = 0 if listed else 1  # what was observed is one of those that are drawn
    moved = k - (of_b >= len(a)).sum(axis=1)
    ratios = np.sort((observed - differences[moved > 0]) / (moved[moved > 0] * (1 / k + 1 / len(a))))
    others = total - len(ratios) - 1  # drawn divisions that are the observed one
    rank = math.floor((1 - confidence_level) / 2 * total + 1e-9) - others
    low, high = (float(ratios[rank - 1]), float(ratios[-rank])) if rank > 0 else (-math.inf, math.inf)
    below, reach = _welch(a, b, confidence_level) if len(a) != len(b) else (0.0, 0.0)
    return RunsResult(
        pvalue=max(below, (more + int((differences <= observed + room).sum())) / total),
        two_sided_pvalue=max(
            2 * min(below, 1 - below), (more + int((np.abs(differences) >= abs(observed) - room).sum())) / total
        ),
        low=min(low, observed - reach),
        high=max(high, observed + reach),
        divisions=divisions,
        drawn=None if listed else most,
    )


def _welch(a: FloatArray, b: FloatArray, confidence_level: float) -> tuple[float, float]:
    """Welch's p-value of "B is not worse" and how far his interval reaches; 0 of one run, or of no spread."""
    if min(len(a), len(b)) < 2:
        return 0.0, 0.0
    shares = [float(each.var(ddof=1)) / len(each) for each in (a, b)]
    square = sum(shares)
    if square == 0:
        return 0.0, 0.0
    freedom = square**2 / sum(share**2 / (len(each) - 1) for share, each in zip(shares, (a, b), strict=True))
    error = math.sqrt(square)
    reach = float(stdtrit(freedom, (1 + confidence_level) / 2)) * error
    return float(stdtr(freedom, float(b.mean() - a.mean()) / error)), reach


def test_runs(row: ComparisonRow, part: Part, rule: ComparisonRule, tasks: IntArray | None) -> ComparisonRow:
    """The row with the means of its measure over the runs of both recipes, tested; each of `tasks` counts the same."""
    assert part.runs is not None
    values = [values_of_runs(row.measure, part, side, tasks) for side in (0, 1)]
    a, b = values
    if np.isinf(np.concatenate(values)).any():
        return replace(row, note=infinite_loss([int(np.isinf(each).sum()) for each in values], "runs"))
    if not np.isfinite(np.concatenate(values)).all():
        return replace(row, note="one class alone: nothing can be tested")
    found = runs_test(a, b, confidence_level=rule.confidence_level, most=max(rule.n_resamples, 9_999), seed=rule.rng)
    how = "exact" if found.drawn is None else f"{found.drawn:,} drawn"
    span = 1.0 if MEASURES[row.measure].in_points else math.inf
    low, high = max(found.low, -span), min(found.high, span)
    if low == high == 0:  # no run is seen to differ: other items may
        high = clopper_pearson(0, row.n, confidence_level=rule.confidence_level).high if span == 1 else math.inf
        low = -high
    least = "" if rule.alpha * found.divisions >= 1 else f"; p is at least 1/{found.divisions}"
    spread = [each.var(ddof=1) / len(each) for each in values if len(each) > 1]
    return replace(
        row,
        baseline_interval=mean_interval(a, None, rule.confidence_level),
        candidate_interval=mean_interval(b, None, rule.confidence_level),
        baseline=float(a.mean()),
        candidate=float(b.mean()),
        difference=float(b.mean() - a.mean()),
        low=low if math.isfinite(low) else None,
        high=high if math.isfinite(high) else None,
        standard_error=math.sqrt(sum(spread)) if len(spread) == 2 else None,
        test=f"{PERMUTATION} {len(a)} and {len(b)} runs, {how}" + ("" if len(a) == len(b) else "; Welch's t"),
        pvalue=found.pvalue,
        two_sided_pvalue=found.two_sided_pvalue,
        differing=_differing(row.measure, part),
        note=f"{found.divisions:,} divisions of the runs{least}",
    )


def _differing(measure: str, part: Part) -> int:
    """The number of rows of which any run says something else than the first."""
    assert part.runs is not None
    sides: tuple[FloatArray, FloatArray] | tuple[IntArray, IntArray] = part.runs.a, part.runs.b
    if MEASURES[measure].needs in ("scores", "probabilities", "marks") and part.runs.scores is not None:
        sides = part.runs.scores
    every = np.concatenate(sides)
    return int((every != every[:1]).any(axis=0).sum())


def values_of_runs(measure: str, part: Part, side: int, tasks: IntArray | None) -> FloatArray:
    """The measure of each run of one recipe: of the baseline, 0, or the candidate, 1."""
    assert part.runs is not None
    runs = range(len((part.runs.a, part.runs.b)[side]))
    return np.array([_value(measure, part, run, side, tasks) for run in runs])


def _value(measure: str, part: Part, run: int, side: int, tasks: IntArray | None) -> float:
    """The measure of one run of one recipe."""
    assert part.runs is not None
    spec, said = MEASURES[measure], (part.runs.a, part.runs.b)[side][run]
    score = None if part.runs.scores is None else part.runs.scores[side][run]
    if spec.needs == "answers":
        values = (said == part.label).astype(np.float64)
    elif spec.test == "ratios":
        assert part.runs.scores is not None
        assert part.runs.per is not None
        return part.sign * spec.of(part.runs.per[side][run], part.runs.scores[side][run])
    elif spec.of_rows is not None:
        values = part.values_of(spec, said, score)
    elif spec.needs == "numbers":
        assert part.numbers is not None
        return spec.of(part.numbers[part.label], part.numbers[said])
    elif spec.needs == "scores":
        both = part.positive.any() and not part.positive.all()
        return spec.of(part.positive, score) if both else math.nan
    else:
        return _of_classes(measure, part, said)
    if tasks is None:
        return float(values.mean())
    return float((np.bincount(tasks, values) / np.bincount(tasks)).mean())


def _of_classes(measure: str, part: Part, said: IntArray) -> float:
    classes = np.unique(np.concatenate([part.label, said]))
    true, called = (np.searchsorted(classes, each) for each in (part.label, said))
    size = len(classes)
    hit = np.bincount(true[true == called], minlength=size)
    actual, named = np.bincount(true, minlength=size), np.bincount(called, minlength=size)
    counts = Confusion(hit, actual - hit, named - hit, len(true) - actual - named + hit)
    counts = Confusion(*(each.astype(np.float64) for each in counts))
    if not refers_to_one_class(measure):
        return float(as_measure(measure).of(counts, "classes"))
    if not part.positive.any():
        return math.nan
    one = int(np.searchsorted(classes, part.code))
    return float(as_measure(measure).of(Confusion(*(each[one] for each in counts)), "binary"))
