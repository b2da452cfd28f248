"""Are two classifiers equally accurate on the same objects? (McNemar's test of the objects that only one got right).

The rows are tested once, or repeatedly as they arrive.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, bdtrc, ndtr

from sigstats._common.messages import join_words
from sigstats._common.validation import ALTERNATIVES, Alternative, FloatArray, IntArray, as_choice, as_count
from sigstats.anytime.bets import log_evalues
from sigstats.effects import accuracy_difference
from sigstats.mcnemar.mcnemar_test import McNemarMethod, check_options, mcnemar_pvalue, mcnemar_test
from sigstats.sign_flips.power import paired_power, paired_sample_size
from sigstats.sign_flips.sign_flip_test import sign_flip_test
from sigstats.subsampling import finite_power

from ..schema import DISCORDANT, Hypothesis
from . import (
    SIDE,
    ObservedRun,
    OfRuns,
    OfSets,
    OfTable,
    Option,
    StatisticalTest,
    distinct_sets,
    estimated,
    fields,
    run_table_test,
)

_MEASURE = "difference of accuracies (a - b)"

_EVEN = "of a split at least as uneven as the observed one"
_METHODS = {
    "exact": f"the exact {{sides}}binomial probability {_EVEN}",
    "mid-p": "the {sides}binomial mid-p-value (splits as uneven as the observed split count half)",
    "sign flips of groups": (
        "if rows have groups, the exact probability of a difference as large as the observed difference if the two are "
        "exchanged in each group with probability 1/2"
    ),
    "chi2": f"the {{sides}}chi-square approximation of the probability {_EVEN}",
}


def _observed(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the result without p, from ``only_a`` and ``only_b``, the numbers of objects that only a or b got right.

    The difference of accuracies is included if ``n``, the number of all objects, is given.
    """
    only_a, only_b = (as_count(data[key], key) for key in ("only_a", "only_b"))
    seen: dict[str, Any] = {
        "alternative": as_choice(data.get("alternative", "two-sided"), "alternative", ALTERNATIVES),
        "n": only_a + only_b,
        "statistic": float(only_a),
    }
    if data.get("n") is None:
        return {**seen, "measure": DISCORDANT}
    difference = accuracy_difference(only_a, only_b, data["n"])
    return {
        **seen,
        "n": int(data["n"]),
        "measure": _MEASURE,
        **estimated(difference.estimate, difference.confidence_interval),
    }


def _evaluate(data: Mapping[str, Any], method: Any) -> dict[str, Any]:
    only_a, only_b = data["only_a"], data["only_b"]
    result = mcnemar_test(only_a, only_b, alternative=data.get("alternative", "two-sided"), method=method)
    note = f"only a right: {only_a}, only b right: {only_b}"
    return fields(result, note=f"{note}; {result.reason}" if result.reason else note)


def _of_runs(runs: Sequence[ObservedRun], cell: str) -> dict[str, Any]:  # noqa: ARG001
    a, b = runs
    if a.groups is not None:
        return _of_groups(a, b, a.groups)
    counts = {"only_a": int((a.right & ~b.right).sum()), "only_b": int((b.right & ~a.right).sum()), "n": a.n}
    return run_table_test("mcnemar", counts, "exact")


def _of_groups(a: ObservedRun, b: ObservedRun, groups: NDArray[np.int64]) -> dict[str, Any]:
    ahead = np.bincount(groups, a.right.astype(int) - b.right).astype(np.int64)
    result = sign_flip_test(ahead, sizes=np.bincount(groups), limit=1)
    return {
        "method": "sign flips of groups",
        "n": a.n,
        "statistic": result.statistic,
        **estimated(result.estimate, result.confidence_interval),
        "p_value": result.pvalue,
        "log10_p": result.log10_pvalue,
        "note": f"{result.items:,} groups, {result.differing:,} with a difference",
    }


def _exact_rate(
    n: int, only_a: float, only_b: float, rows: int | None, *, swapped: bool, alpha: float, **options: Any
) -> float:
    if rows is not None:
        return finite_power(n, int(only_a), int(only_b), rows, swapped=swapped, alpha=alpha, **options)
    if swapped:
        only_a = only_b = (only_a + only_b) / 2
    return paired_power(n, only_a=only_a, only_b=only_b, alpha=alpha, **options)


def _pvalues(
    sets: NDArray[np.int64],
    rng: object,  # noqa: ARG001
    *,
    alternative: Alternative = "two-sided",
    method: McNemarMethod = "exact",
    correction: bool = False,
) -> NDArray[np.float64]:
    check_options(alternative, method, correction)
    only_a, only_b = sets[:, 2] + sets[:, 5], sets[:, 1] + sets[:, 6]
    distinct, positions = distinct_sets(np.stack([only_a, only_b], axis=1))
    pvalues = [mcnemar_pvalue(a, b, alternative, method, correction) for a, b in distinct.tolist()]
    return np.array(pvalues)[positions]


def _words(rows: Sequence[Hypothesis]) -> str:
    one_sided = {row.alternative in ("greater", "less") for row in rows}
    sides = "" if len(one_sided) > 1 else "one-sided " if any(one_sided) else "two-sided "
    used = list(dict.fromkeys(row.method for row in rows))
    text = ("by method " if len(used) > 1 else "") + join_words([_METHODS[name].format(sides=sides) for name in used])
    toward = "If the alternative is that A or that B is better, only unevenness in its favour counts. "
    return (
        f"Only rows that one of two classifiers got right and the other wrong distinguish them: p is {text}. "
        f"{toward if any(one_sided) else ''}The null hypothesis is that both are equally likely to be right. It is "
        "about these predictions; the choice of training rows is not accounted for."
    )


TEST = StatisticalTest(
    label="McNemar",
    question="Which of two classifiers is better?",
    null="a and b are equally likely to be right",
    words=_words,
    source=(
        "McNemar, Note on the sampling error of the difference between correlated proportions or percentages, "
        "Psychometrika 12 (1947); for classifiers, Sturm, Comparing two classifiers using a contingency table"
    ),
    terms=(
        "McNemar's test compares the rows that only one of two classifiers got right. Necessity, from 0 to 1, states "
        "how strongly the data rule out that they are equally good: 1 − 2p, with p before adjustment."
    ),
    order=40,
    table=OfTable(methods=("exact", "mid-p", "chi2"), observed=_observed, evaluate=_evaluate),
    runs=OfRuns(compared="two", compute=_of_runs, method="exact", measure=_MEASURE, takes_groups=True),
    sets=OfSets(
        name="McNemar",
        title="McNemar's test.",
        options={
            "method": Option(Literal["exact", "mid-p", "chi2"], "exact", "Method of the p-value"),
            "alternative": SIDE,
            "correction": Option(bool, False, "Edwards's continuity correction, for chi2"),
        },
        pvalues=_pvalues,
        exact_rate=_exact_rate,
        rows_needed=paired_sample_size,
    ),
)


def _smallest_pvalues(
    sets: IntArray, rng: np.random.Generator | None, *, method: str, alternative: str, new_rows: int
) -> FloatArray:
    """Return the smallest p-value of all looks at each test set. Without `rng`, there is one look at all rows."""
    values = np.empty(len(sets))
    for place, counts in enumerate(sets):
        only_a, only_b, n = int(counts[2] + counts[5]), int(counts[1] + counts[6]), int(counts.sum())
        looks, look_of_row = 1, np.zeros(only_a + only_b, np.int64)
        if rng is not None:
            looks, look_of_row = -(-n // new_rows), rng.choice(n, only_a + only_b, replace=False) // new_rows
        rows_of_a, rows_of_b = look_of_row[:only_a], look_of_row[only_a:]
        a, b = (np.bincount(rows, minlength=looks).cumsum() for rows in (rows_of_a, rows_of_b))
        values[place] = _METHODS_OF_LOOKS[method](a, b, alternative).min()
    return values


def _anytime(a: IntArray, b: IntArray, alternative: str) -> FloatArray:
    """Return p-values: the reciprocals of the e-values of `sigstats.anytime_test`."""
    ahead, behind = (b, a) if alternative == "less" else (a, b)
    evidence = log_evalues(ahead.astype(np.float64), behind.astype(np.float64), two_sided=alternative == "two-sided")
    return np.exp(-np.maximum(evidence, 0.0))


def _exact(a: IntArray, b: IntArray, alternative: str) -> FloatArray:
    """Return the p-values of McNemar's exact test of the rows so far."""
    if alternative == "two-sided":
        return np.minimum(1.0, 2 * bdtr(np.minimum(a, b), a + b, 0.5))
    ahead = b if alternative == "less" else a
    return np.where(ahead > 0, bdtrc(ahead - 1, a + b, 0.5), 1.0)


def _chi2(a: IntArray, b: IntArray, alternative: str) -> FloatArray:
    """Return the p-values of McNemar's approximate test, which rejects if a fixed interval excludes 0."""
    z = (a - b) / np.sqrt(np.maximum(a + b, 1))
    return {"two-sided": 2 * ndtr(-np.abs(z)), "greater": ndtr(-z), "less": ndtr(z)}[alternative]  # type: ignore[no-any-return]


_METHODS_OF_LOOKS: Mapping[str, Callable[[IntArray, IntArray, str], FloatArray]] = {
    "anytime": _anytime,
    "exact": _exact,
    "chi2": _chi2,
}


LOOKS = StatisticalTest(
    label="Looks",
    question="Are two classifiers equally accurate, looked at as rows arrive?",
    null="a and b are equally likely to be right",
    words=(
        "The rows of a test set arrive in random order, some before each look, and each look tests all rows so far. "
        "p is the smallest p-value of all looks, by a test that is valid for any number of looks or by a test for a "
        "single look."
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
        pvalues=_smallest_pvalues,
        draws=True,
    ),
)
