"""Are two classifiers equally accurate, looked at as rows arrive? (the smallest p-value of all looks)."""

from collections.abc import Callable, Mapping
from typing import Literal

import numpy as np
from scipy.special import bdtr, bdtrc, ndtr

from sigstats._common.validation import FloatArray, IntArray
from sigstats.anytime.bets import log_evalues

from . import SIDE, OfSets, Option, StatisticalTest


def _pvalues(
    sets: IntArray, rng: np.random.Generator | None, *, method: str, alternative: str, new_rows: int
) -> FloatArray:
    """The smallest p-value of all looks at each test set; rows arrive in random order, or all at once without `rng`."""
    values = np.empty(len(sets))
    for place, counts in enumerate(sets):
        only_a, only_b, n = int(counts[2] + counts[5]), int(counts[1] + counts[6]), int(counts.sum())
        step = new_rows if rng is not None else max(n, 1)
        look = (
            np.zeros(only_a + only_b, np.int64)
            if rng is None
            else rng.choice(n, only_a + only_b, replace=False) // step
        )
        looks = -(-n // step)
        a, b = (np.bincount(array, minlength=looks).cumsum() for array in (look[:only_a], look[only_a:]))
        values[place] = _METHODS[method](a, b, alternative).min()
    return values


def _anytime(a: IntArray, b: IntArray, alternative: str) -> FloatArray:
    """The reciprocals of the e-values of `sigstats.anytime_test`."""
    ahead, behind = (b, a) if alternative == "less" else (a, b)
    evidence = log_evalues(ahead.astype(np.float64), behind.astype(np.float64), two_sided=alternative == "two-sided")
    return np.exp(-np.maximum(evidence, 0.0))


def _exact(a: IntArray, b: IntArray, alternative: str) -> FloatArray:
    """McNemar's exact test of the rows so far."""
    if alternative == "two-sided":
        return np.minimum(1.0, 2 * bdtr(np.minimum(a, b), a + b, 0.5))
    ahead = b if alternative == "less" else a
    return np.where(ahead > 0, bdtrc(ahead - 1, a + b, 0.5), 1.0)


def _chi2(a: IntArray, b: IntArray, alternative: str) -> FloatArray:
    """McNemar's approximate test, which rejects if a fixed interval excludes 0."""
    z = (a - b) / np.sqrt(np.maximum(a + b, 1))
    return {"two-sided": 2 * ndtr(-np.abs(z)), "greater": ndtr(-z), "less": ndtr(z)}[alternative]  # type: ignore[no-any-return]


_METHODS: Mapping[str, Callable[[IntArray, IntArray, str], FloatArray]] = {
    "anytime": _anytime,
    "exact": _exact,
    "chi2": _chi2,
}


TEST = StatisticalTest(
    label="Looks",
    question="Are two classifiers equally accurate, looked at as rows arrive?",
    null="a and b are equally likely to be right",
    words=(
        "The rows of a test set arrive in random order, some at a look, and all rows so far are tested at each look. "
        "p is the smallest of all looks, by a test that is valid at all looks together or by one made for a single "
        "look."
    ),
    source=(
        "Ramdas, Gruenwald, Vovk and Shafer, Game-theoretic statistics and safe anytime-valid inference, Statistical "
        "Science 38 (2023)"
    ),
    order=41,
    sets=OfSets(
        name="looks",
        title="Smallest p-value of all looks at rows in random order.",
        options={
            "method": Option(
                Literal["anytime", "exact", "chi2"], "anytime", "anytime_test, or McNemar's test at each look"
            ),
            "new_rows": Option(int, 200, "New rows per look", {"ge": 1, "le": 10**7}),
            "alternative": SIDE,
        },
        pvalues=_pvalues,
        draws=True,
    ),
)
