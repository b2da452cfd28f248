"""Intervals of the difference of two models by a judge that errs and a few labels by people: coverage and width.

    python benchmarks/judges.py [TRIALS] > benchmarks/judges.md

Each trial draws 2,000 rows, of which the first ones have labels by people. Beside `sigstats.judged_test`: PPI++
(Angelopoulos, Duchi and Zrnic 2023, with their lambda), Rogan and Gladen's (1978) correction of each model's accuracy
with a normal interval of its error (sensitivities and specificities from the labelled rows), the judge's own verdicts
(a normal interval of paired differences), and people's labels alone.
"""

import math
import sys

import numpy as np
from scipy.stats import norm

import sigstats
from sigstats.judged.law import judged_rows

ROWS, Z = 2000, float(norm.isf(0.025))
#: Accuracies of A and B, and the judge's sensitivities and specificities for them.
WORLDS = {
    "equal models, a judge that errs for B": ((0.8, 0.8), (0.9, 0.9), (0.7, 0.55)),
    "equal models, a good judge": ((0.8, 0.8), (0.97, 0.97), (0.95, 0.9)),
    "equal models, nearly always right": ((0.95, 0.95), (0.97, 0.97), (0.95, 0.9)),
    "A better by 5 points, a good judge": ((0.9, 0.85), (0.97, 0.97), (0.95, 0.9)),
    "A better by 5 points, a judge that errs for B": ((0.9, 0.85), (0.9, 0.9), (0.7, 0.55)),
}
METHODS = ("judged_test", "PPI++", "Rogan and Gladen", "the judge alone", "people alone")


def world(rng, accuracies, sensitivities, specificities):
    """Whether people and the judge call the answers of A and B right: two arrays of shape (2, rows)."""
    common, shared = rng.random(ROWS), rng.random(ROWS) < 0.6
    people = np.array([np.where(shared, common, rng.random(ROWS)) < each for each in accuracies])
    right = np.array([rng.random(ROWS) < each for each in sensitivities])
    wrong = np.array([rng.random(ROWS) >= each for each in specificities])
    return people, np.where(people, right, wrong)


def ppi(judge, people):
    """PPI++ with the estimated lambda within [0, 1]; the judge's mean is of the rows without labels."""
    n = people.shape[1]
    verdict, seen = judge[0] * 1.0 - judge[1], people[0] * 1.0 - people[1]
    rest, rows = verdict[n:], len(verdict) - n
    spread = verdict.var()
    covariance = np.cov(verdict[:n], seen, bias=True)[0, 1]
    weight = min(max(covariance / (spread * (1 + n / rows)), 0.0), 1.0) if spread else 0.0
    residual = seen - weight * verdict[:n]
    error = math.sqrt(residual.var() / n + weight**2 * rest.var() / rows)
    return weight * rest.mean() + residual.mean(), error


def rogan_gladen(judge, people):
    """The difference of the accuracies corrected for sensitivity and specificity, of independent errors."""
    n, accuracies, variances = people.shape[1], [], []
    for called, truth in zip(judge, people, strict=True):
        share = called.mean()
        rates = []
        for value in (True, False):
            chosen = called[:n][truth == value] == value
            rates.append((chosen.mean() if len(chosen) else 0.5, len(chosen)))
        (sensitivity, positives), (specificity, negatives) = rates
        slope = sensitivity + specificity - 1
        if slope <= 0 or not positives or not negatives:
            return 0.0, math.inf
        accuracy = (share + specificity - 1) / slope
        parts = share * (1 - share) / len(called), accuracy**2 * sensitivity * (1 - sensitivity) / positives
        parts += ((1 - accuracy) ** 2 * specificity * (1 - specificity) / negatives,)
        accuracies.append(accuracy)
        variances.append(sum(parts) / slope**2)
    return accuracies[0] - accuracies[1], math.sqrt(sum(variances))


def paired(verdicts):
    """The mean of paired differences and its standard error."""
    differences = verdicts[0] * 1.0 - verdicts[1]
    return differences.mean(), differences.std() / math.sqrt(len(differences))


def intervals(judge, people):
    """The five intervals, in the order of METHODS."""
    labels = np.full(judge.shape, np.nan)
    labels[:, : people.shape[1]] = people
    both = [sigstats.judged_test(*judge, *labels, n_resamples=4000).confidence_interval]
    alone = [sigstats.judged_test(*np.ones_like(judge), *labels, n_resamples=4000).confidence_interval]
    normal = [ppi(judge, people), rogan_gladen(judge, people), paired(judge)]
    return (
        [(low, high) for low, high in both]
        + [(max(-1.0, mean - Z * error), min(1.0, mean + Z * error)) for mean, error in normal]
        + [(low, high) for low, high in alone]
    )


def main(trials: int) -> None:
    print("# Judges that err, and a few labels by people\n")
    print(f"`python benchmarks/judges.py {trials}`: the share of {trials:,} trials of {ROWS:,} rows in which a 95%")
    print(
        "interval holds the difference that people would see of all rows, and in parentheses its mean width in points."
    )
    for name, (accuracies, sensitivities, specificities) in WORLDS.items():
        print(f"\n## {name[0].upper()}{name[1:]}\n\n| labels | {' | '.join(METHODS)} |\n|{'---|' * (len(METHODS) + 1)}")
        truth = accuracies[0] - accuracies[1]
        for labels in (30, 50, 200, 1000):
            rng = np.random.default_rng(labels)
            held, width = np.zeros(len(METHODS)), np.zeros(len(METHODS))
            for _ in range(trials):
                people, judge = world(rng, accuracies, sensitivities, specificities)
                ends = np.array(intervals(judge, people[:, :labels]))
                held += (ends[:, 0] <= truth) & (truth <= ends[:, 1])
                width += ends[:, 1] - ends[:, 0]
            cells = [f"{100 * a / trials:.1f}% ({100 * b / trials:.1f})" for a, b in zip(held, width, strict=True)]
            print(f"| {labels:,} | {' | '.join(cells)} |", flush=True)


def grouped(rng, labels):
    """Four answers to each of 500 items, hard or easy for each model; people label all answers to the first items."""
    item = np.repeat(np.arange(ROWS // 4), 4)
    ease = rng.beta(0.8, 0.2, size=(2, ROWS // 4))[:, item]
    people = rng.random((2, ROWS)) < ease
    judge = np.where(people, rng.random((2, ROWS)) < 0.9, rng.random((2, ROWS)) >= [[0.7], [0.55]])
    judge |= rng.random((2, ROWS // 4))[:, item] < 0.1  # what the judge lets pass, it passes in all answers
    seen = np.where(item < labels // 4, people, np.nan)
    return [(judge, seen, {"groups": item}), (judge, seen, {})]


def marked(rng, labels):
    """Marks from 0 to 1 of unlike laws and equal means, and a judge that is generous to B."""
    people = np.array([rng.beta(0.4, 0.2, ROWS), rng.beta(4, 2, ROWS)])
    judge = people + rng.normal(0, 0.1, (2, ROWS)) + [[0.0], [0.1]]
    seen = np.where(np.arange(ROWS) < labels, people, np.nan)
    return [(judge, seen, {"score_range": (0, 1)}), (np.zeros((2, ROWS)), seen, {"score_range": (0, 1)})]


def interval(judge, seen, groups=None, **_):
    """That of `sigstats.judged_test`, without the number of labels that would decide, which takes longer."""
    labelled = ~np.isnan(seen[0])
    verdict = np.sign(judge[0] * 1.0 - judge[1]).astype(np.int64)
    rows = judged_rows(verdict, labelled, (seen[0] - seen[1])[labelled], 1.0, groups)
    law = rows.law(2000, np.random.default_rng(0))
    return law.low(0.025), law.high(0.025)


def groups_and_marks(trials: int) -> None:
    """The same for answers to items and for marks, where people would see no difference."""
    for title, draw, methods in (
        ("Four answers to an item", grouped, ("judged_test by items", "answers taken as independent")),
        ("Marks", marked, ("judged_test", "people alone")),
    ):
        print(f"\n## {title} ({trials:,} trials)\n\n| labels | {' | '.join(methods)} |\n|---|---|---|")
        for labels in (52, 200, 1000):
            rng = np.random.default_rng(labels)
            held, width = np.zeros(2), np.zeros(2)
            for _ in range(trials):
                for column, (judge, seen, options) in enumerate(draw(rng, labels)):
                    low, high = interval(judge, seen, **options)
                    held[column] += low <= 0 <= high
                    width[column] += high - low
            cells = [f"{100 * a / trials:.1f}% ({100 * b / trials:.1f})" for a, b in zip(held, width, strict=True)]
            print(f"| {labels} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    main(number)
    groups_and_marks(number // 5)
