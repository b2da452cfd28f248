"""How often the bounds that one more row does not undo hold, beside the usual intervals.

    python benchmarks/unseen_row.py [SAMPLES]

Prints the table of docs/methods.md. Coverage is the share of samples whose two-sided 95% interval holds the true
difference. A false pass is an interval that lies above it: at a margin just below the true drop, such a sample passes
(2.5% are nominal). The usual intervals are Student's t, of groups Liang and Zeger's, DeLong's for areas and percentiles
of the bootstrap for measures of counts. No study of the kind "calibration" has populations of marks with rare
disasters, areas and groups, so that this is a script.
"""

import sys
from collections.abc import Callable

import numpy as np
from scipy.stats import norm

from sigstats.bootstrap.test import bootstrap_test
from sigstats.joint.events import JointEvents
from sigstats.joint.outcomes import JointOutcomes
from sigstats.measures.measure import as_measure
from sigstats.scores.auc import auc_test
from sigstats.scores.mean_score import mean_score_test
from sigstats.unseen_row.areas import area_interval, gains_of
from sigstats.unseen_row.counts import law_of_difference
from sigstats.unseen_row.means import mean_interval, units_of

SIZES = (10, 30, 100, 1000, 10_000)
WEIGHTINGS = 1000
Ends = tuple[float, float]
Case = Callable[[int, np.random.Generator], tuple[float, Ends, Ends]]


def of_means(differences: np.ndarray, groups: np.ndarray | None) -> tuple[Ends, Ends]:
    sums, sizes = differences, None
    if groups is not None:
        sums, sizes = np.bincount(groups, differences), np.bincount(groups)
    usual = mean_score_test(differences, 0 * differences, groups=groups).confidence_interval
    return mean_interval(units_of(sums, sizes), (-1, 1)), usual


def marks(n: int, rng: np.random.Generator) -> tuple[float, Ends, Ends]:
    """Marks in quarters, of which B loses one in 25 rows and gains one in 50."""
    return -0.005, *of_means(rng.choice([-0.25, 0.0, 0.25], n, p=[0.04, 0.94, 0.02]), None)


def disasters(n: int, rng: np.random.Generator) -> tuple[float, Ends, Ends]:
    """One row in 50 is lost altogether, the others gain .01."""
    return -0.0102, *of_means(np.where(rng.random(n) < 0.02, -1.0, 0.01), None)


def groups_of_five(n: int, rng: np.random.Generator) -> tuple[float, Ends, Ends]:
    """Groups of five rows, all of which are lost in one group of 25 and gained in none."""
    groups = np.arange(n) // 5
    return -0.04, *of_means(-1.0 * (rng.random(n // 5) < 0.04)[groups], groups)


def area(n: int, rng: np.random.Generator) -> tuple[float, Ends, Ends]:
    """One row in five is positive, of which B ranks one in 25 last."""
    positive = np.arange(n) < n // 5
    a = rng.normal(size=n) + 1.5 * positive
    b = np.where(positive & (rng.random(n) < 0.04), -9.0, a)
    usual = auc_test(positive, b, a).confidence_interval
    return -0.04 * norm.cdf(1.5 / np.sqrt(2)), area_interval(gains_of(positive, (a, b))), usual


def of_counts(joint: JointEvents | JointOutcomes, measure: str) -> tuple[Ends, Ends]:
    law = law_of_difference(joint, as_measure(measure), size=WEIGHTINGS)
    usual = bootstrap_test(joint, measure=measure, n_resamples=WEIGHTINGS, rng=0).confidence_interval
    return law.interval(0.95), usual


def f1(n: int, rng: np.random.Generator) -> tuple[float, Ends, Ends]:
    """One row in ten is positive; both find four of five of them, not always the same."""
    shares = np.array([0.07, 0.01, 0.015, 0.005, 0.004, 0.006, 0.004, 0.886])
    found_a, found_b = (of.tp / (2 * of.tp + of.fp + of.fn) for of in JointOutcomes().confusions(shares[None]))
    joint = JointOutcomes(*rng.multinomial(n, shares).tolist())
    return 2 * float(found_b[0] - found_a[0]), *of_counts(joint, "f1")


def rare_class(n: int, rng: np.random.Generator) -> tuple[float, Ends, Ends]:
    """Macro-recall of three classes of which one has a twentieth of the rows; B loses a tenth of them."""
    y = np.where(np.arange(n) < max(2, n // 20), 2, np.arange(n) % 2)
    b = np.where((y == 2) & (rng.random(n) < 0.1), 0, y)
    return -0.1 / 3, *of_counts(JointEvents.from_predictions(y, y, b, classes=[0, 1, 2]), "macro-recall")


CASES: dict[str, Case] = {
    "marks in quarters": marks,
    "F1, 10% positive": f1,
    "groups of five rows": groups_of_five,
    "marks, rare disasters": disasters,
    "area, few positives lost": area,
    "macro-recall, rare class": rare_class,
}

if __name__ == "__main__":
    samples = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    print("| | " + " | ".join(f"{n:,} rows" for n in SIZES) + " |")
    print("|---" * (1 + len(SIZES)) + "|")
    for name, case in CASES.items():
        lines: list[list[str]] = [[], []]
        for n in SIZES:
            rng = np.random.default_rng([n, len(name)])
            found = [case(n, rng) for _ in range(samples)]
            for line, which in zip(lines, (1, 2), strict=True):
                held = np.mean([each[which][0] <= each[0] <= each[which][1] for each in found])
                above = np.mean([each[which][0] > each[0] for each in found])
                line.append(f"{100 * held:.1f}, {100 * above:.1f}")
        for line, how in zip(lines, ("unseen row", "usual"), strict=True):
            print(f"| {name}: {how} | " + " | ".join(line) + " |", flush=True)
