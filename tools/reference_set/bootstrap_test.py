"""What the bootstrap test says of the test set itself; its replicates belong to a seed and a generator."""

from collections.abc import Iterator
from fractions import Fraction

from ._cases import Case
from ._joint import EVENTS, tables

SOURCE = "Keller, Mariethoz and Bengio (2005), Table 1 and section 3: measures of A and B, and A less B."
METHODS = ("the measures of eight counts", "harmonic means and shares, row by row of each kind")
MEASURES = ("f1", "accuracy", "precision", "recall")


def by_counts(e: list[int], measure: str) -> list[Fraction]:
    """The measure of A and of B by true and false positives and negatives."""
    e1, e2, e3, e4, e5, e6, e7, _ = e
    found = []
    for tp, fp in ((e1 + e3, e5 + e7), (e1 + e2, e5 + e6)):
        fn, n = e1 + e2 + e3 + e4 - tp, sum(e)
        tn = n - tp - fn - fp
        above, below = {
            "f1": (2 * tp, 2 * tp + fp + fn),
            "accuracy": (tp + tn, n),
            "precision": (tp, tp + fp),
            "recall": (tp, tp + fn),
        }[measure]
        found.append(Fraction(above, below))
    return found


def by_rows(e: list[int], measure: str) -> list[Fraction]:
    """The same by what each kind of row adds."""
    found = []
    for side in (1, 2):
        kinds = [(count, event[0], event[side]) for count, event in zip(e, EVENTS, strict=True)]
        right = sum(count for count, _, is_right in kinds if is_right)
        said = sum(count for count, positive, is_right in kinds if positive == is_right)
        there = sum(count for count, positive, _ in kinds if positive)
        hits = sum(count for count, positive, is_right in kinds if positive and is_right)
        shares = {"precision": Fraction(hits, said), "recall": Fraction(hits, there)}
        shares["accuracy"] = Fraction(right, sum(e))
        shares["f1"] = 2 / (1 / shares["precision"] + 1 / shares["recall"]) if hits else Fraction(0)
        found.append(shares[measure])
    return found


def cases() -> Iterator[Case]:
    """All counts of which each measure is defined."""
    for difficulty, e in tables():
        for measure in MEASURES:
            (a, b), (again_a, again_b) = by_counts(e, measure), by_rows(e, measure)
            values = {"value_a": (a, again_a), "value_b": (b, again_b)}
            if a == b or abs(b - a) > max(a, b) / 1000:  # a smaller difference of doubles has fewer digits than they
                values["estimate"] = a - b, again_a - again_b
            outcomes = {f"e{number}": count for number, count in enumerate(e, 1)}
            given = {"outcomes": outcomes, "measure": measure, "n_resamples": 99, "confidence_level": 0.5, "rng": 1}
            yield Case(difficulty, given, values)
