"""Do two classifiers have the same error rate, or detection cost? (normal tests of Keller, Mariethoz and Bengio)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sigstats.joint.outcomes import EXCHANGED
from sigstats.proportions import dcf_pvalues, proportion_pvalues

from . import KELLER, SIDE, OfSets, Option, StatisticalTest

PROPORTION = StatisticalTest(
    label="Proportions",
    question="Do two classifiers have the same error rate?",
    null="a and b have the same error rate",
    words=(
        "The difference of two error rates over its standard error is compared with the normal distribution: from the "
        "disagreements only, or as if the two were measured on different objects."
    ),
    source=f"{KELLER}, equations 4 and 6",
    order=48,
    sets=OfSets(
        name="proportion",
        title="Test of two errors by Keller, Mariethoz and Bengio.",
        options={"paired": Option(bool, True, "Paired, eq. (6), or independent, eq. (4)"), "alternative": SIDE},
        pvalues=lambda sets, rng, **options: proportion_pvalues(sets[:, EXCHANGED], **options),
    ),
)


def _pvalues(sets: NDArray[np.int64], rng: object, **options: Any) -> NDArray[np.float64]:  # noqa: ARG001
    """The p-values; 1 without rows of one class. In a study, greater means that A is better: B has the greater cost."""
    ones = np.ones(len(sets))
    whole = sets[:, :4].any(axis=1) & sets[:, 4:].any(axis=1)
    ones[whole] = dcf_pvalues(sets[whole][:, EXCHANGED], **options)
    return ones


DCF = StatisticalTest(
    label="Detection costs",
    question="Do two classifiers have the same detection cost?",
    null="a and b have the same detection cost",
    words=(
        "The difference of two detection costs over its standard error is compared with the normal distribution: from "
        "the disagreements only, or as if the two were measured on different objects."
    ),
    source=f"{KELLER}, equations 8 and 9",
    order=49,
    sets=OfSets(
        name="DCF",
        title="Test of two detection costs by Keller, Mariethoz and Bengio.",
        options={
            "cost_fn": Option(float, 1.0, "Cost of a missed positive", {"ge": 0, "le": 1e100}),
            "cost_fp": Option(float, 1.0, "Cost of a false positive", {"ge": 0, "le": 1e100}),
            "prior": Option(float, 0.5, "Prior probability of a positive", {"gt": 0, "lt": 1}),
            "paired": Option(bool, True, "Paired, eq. (9), or independent, eq. (8)"),
            "alternative": SIDE,
        },
        pvalues=_pvalues,
        of_answers=False,
    ),
)
