"""The test of two detection costs."""

from collections.abc import Iterator
from fractions import Fraction

from ._cases import ALTERNATIVES, Case
from ._joint import METHODS as METHODS
from ._joint import both, tables
from ._tails import of_normal

SOURCE = "Keller, Mariethoz and Bengio (2005), equations (7) to (9); costs and priors are doubles."
#: Cost of a false negative, cost of a false positive, prior: equal ones, NIST's of speakers, free false negatives.
COSTS = ((1.0, 1.0, 0.5), (10.0, 1.0, 0.01), (0.0, 2.0, 0.25))


def cases() -> Iterator[Case]:
    """Both variances; costs and alternatives in turn."""
    turn = 0
    for difficulty, e in tables():
        outcomes = {f"e{place}": each for place, each in enumerate(e, 1)}
        for paired in (True, False):
            for cost_fn, cost_fp, prior in COSTS[:2] if difficulty == "easy" else COSTS:
                alternative = ALTERNATIVES[turn % 3]
                turn += 1
                share = Fraction(prior)
                weights = Fraction(cost_fn) * share, Fraction(cost_fp) * (1 - share)
                difference, variance = both(e, weights, paired)
                given = {
                    "outcomes": outcomes, "cost_fn": cost_fn, "cost_fp": cost_fp, "prior": prior, "paired": paired,
                    "alternative": alternative,
                }  # fmt: skip
                yield Case(difficulty, given, of_normal(-difference, variance, alternative))
