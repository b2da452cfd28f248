"""What a comparison says where no difference was seen, and the exact tests of means, beside enumeration."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import beta, ttest_rel

import sigstats
from sigstats.comparison.compare import compare_pair
from sigstats.comparison.paired_predictions import pair_arrays
from sigstats.comparison.sentences import reasons

TEN = [0, 1] * 5
MARKS = [0.5, 1.0, 0.0, 0.25, 1.0] * 2


def compared(y=TEN, a=TEN, b=None, **options):
    return sigstats.compare(y, a, list(a) if b is None else b, **options)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"measures": ["mean-score"], "scores": (MARKS, list(MARKS))},
        {"measures": ["auc", "neg-brier", "neg-log-loss"], "scores": (MARKS, list(MARKS))},
        {"measures": ["macro-f1", "mcc", "balanced-accuracy"]},
        {"measures": ["neg-mae", "neg-mse"]},
        {"groups": [1, 1, 2, 2, 3, 3, 4, 4, 5, 5]},
        {"groups": [1, 1, 2, 2, 3, 3, 4, 4, 5, 5], "measures": ["pass@1", "pass@2", "macro-f1"]},
    ],
    ids=lambda options: "+".join(options.get("measures", options)),
)
def test_no_difference_in_ten_rows_is_inconclusive_and_leans_nowhere(options):
    found = compared(**options)
    assert found.verdict == "inconclusive"
    for row in found.rows:
        assert (row.verdict, row.difference, row.p_worse, row.silent) == ("inconclusive", 0, 1, True)
        assert (row.pd, row.nsd) == (1, 0)
        assert row.low is None or row.low < -0.1


def test_what_differs_nowhere_is_limited_as_a_share_that_was_never_seen():
    y = [0, 1, 1, 1] * 250
    scores = np.linspace(0, 1, 1000)
    found = compared(y, y, measures=["macro-f1", "auc"], scores=(scores, scores.copy()))
    # of the 250 rows of the rarer class, none was seen to differ
    for row in found.rows:
        assert -row.low == pytest.approx(beta.ppf(0.975, 1, 250))
        assert row.high == -row.low
    (row,) = sigstats.compare(
        y, y, list(y), measures=["mean-score"], scores=(scores, scores.copy()), score_range=(0, 10)
    ).rows
    # Tango's interval of 0 in n, z^2 / (n + z^2), in units of the range
    assert -row.low == pytest.approx(10 * 1.959964**2 / (1000 + 1.959964**2), rel=1e-6)


@pytest.mark.parametrize(("better", "verdict"), [(1, "inconclusive"), (19, "inconclusive"), (20, "pass")])
def test_a_bootstrap_that_saw_few_differences_excludes_nothing(better, verdict):
    y = [0, 1] * 200
    worse = [1 - each if row < 20 else each for row, each in enumerate(y)]
    found = compared(y, worse, [*y[:better], *worse[better:]], measures=["macro-f1"])
    (row,) = found.rows
    assert row.low >= 0  # it draws again what was seen, and that is never a drop
    assert (row.verdict, row.differing) == (verdict, better)
    said = f"{better} differ, too few for the interval of a bootstrap"
    assert [said in reason for reason in reasons(found)] == ([True] if verdict == "inconclusive" else [])


def test_the_same_thing_is_identical_and_passes():
    found = compared(TEN, TEN, TEN)
    assert (found.verdict, found.identical) == ("pass", True)
    assert [(row.verdict, row.p_worse) for row in found.rows] == [("pass", 1)]
    assert not compared(TEN, TEN, list(TEN)).identical
    assert not sigstats.compare(TEN, TEN, TEN, scores=(MARKS, list(MARKS)), measures=["mean-score"]).identical


def flipped(differences, observed):
    """The share of all changes of sign that give a sum as low, in fractions."""
    sums = [sum(sign * each for sign, each in zip(signs, differences, strict=True))
            for signs in itertools.product((-1, 1), repeat=len(differences))]  # fmt: skip
    return Fraction(sum(each <= observed for each in sums), len(sums))


@pytest.mark.parametrize("kind", ["quarters", "reals"])
@pytest.mark.parametrize("grouped", [False, True])
def test_means_of_bounded_marks_are_tested_by_changes_of_sign(kind, grouped):
    rng = np.random.default_rng(3)
    a, b = rng.integers(0, 5, size=(2, 14)) / 4 if kind == "quarters" else rng.random((2, 14))
    groups = np.repeat(np.arange(7), 2) if grouped else None
    (row,) = sigstats.compare(
        [0, 1] * 7, [0] * 14, [1] * 14, scores=(a, b), measures=["mean-score"], groups=groups
    ).rows
    differences = (b - a).reshape(7, 2).sum(axis=1) if grouped else b - a
    exact = [Fraction(each).limit_denominator(10**12) for each in differences]
    assert row.p_worse == pytest.approx(float(flipped(exact, sum(exact))), rel=1e-12)
    assert row.difference == pytest.approx(b.mean() - a.mean())
    assert row.low <= row.difference <= row.high
    assert row.test == f"sign flips of {7 if grouped else 14} {'groups' if grouped else 'rows'}, exact"
    # Miller's standard error, by hand
    residuals = differences - differences.mean()
    assert row.standard_error == pytest.approx(np.sqrt((residuals**2).sum() * len(exact) / (len(exact) - 1)) / 14)


def test_students_t_is_taken_where_marks_have_no_bound_and_says_so():
    rng = np.random.default_rng(4)
    y, a, b = rng.normal(size=(3, 60)).round(3)
    found = sigstats.compare(y, a, b, measures=["neg-mae", "neg-mse"])
    for row, loss in zip(found.rows, (np.abs, np.square), strict=True):
        wanted = ttest_rel(-loss(b - y), -loss(a - y), alternative="less")
        assert row.p_worse == pytest.approx(wanted.pvalue)
        assert row.note == "Student's t: losses have no bound"
    (row,) = sigstats.compare([0, 1] * 30, [0] * 60, [1] * 60, scores=(a + 5, b + 5), measures=["mean-score"]).rows
    assert row.p_worse == pytest.approx(ttest_rel(b, a, alternative="less").pvalue)
    assert row.note == "Student's t: marks outside of 0 to 1, whose range is not given"


def test_pass_at_k_is_tested_by_items():
    rng = np.random.default_rng(5)
    items = np.repeat(np.arange(9), 4)
    y, a, b = np.ones(36, int), rng.integers(0, 2, 36), rng.integers(0, 2, 36)
    (row,) = sigstats.compare(y, a, b, groups=items, measures=["pass@2"]).rows

    def chances(said):
        right = said.reshape(9, 4).sum(axis=1)
        return [1 - Fraction((4 - int(c)) * (3 - int(c)), 12) for c in right]

    differences = [second - first for first, second in zip(chances(a), chances(b), strict=True)]
    assert row.baseline == pytest.approx(float(sum(chances(a)) / 9))
    assert row.difference == pytest.approx(float(sum(differences) / 9))
    assert row.p_worse == pytest.approx(float(flipped(differences, sum(differences))), rel=1e-12)
    assert row.test == "sign flips of 9 items, exact"


def test_areas_of_groups_keep_their_level_by_students_t():
    rng = np.random.default_rng(6)
    y, groups = rng.integers(0, 2, 80), np.repeat(np.arange(20), 4)
    scores = tuple(rng.random((2, 80)))
    (row,) = sigstats.compare(y, y, 1 - y, scores=scores, groups=groups, measures=["auc"]).rows
    wanted = sigstats.auc_test(y == 1, *scores, groups=groups, method="t", alternative="greater")
    assert (row.p_worse, row.test) == (pytest.approx(wanted.pvalue), "Obuchowski, Student's t")


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (lambda: compared(np.linspace(0.1, 1, 400), np.linspace(0.2, 1, 400)), "772 different numbers such as 0.1"),
        (lambda: compared(["good", "bad"] * 5, ["good", "bad"] * 5, ["0", "1"] * 5), "'0', '1' of the candidate"),
        (lambda: compared(["good", "bad"] * 5, ["0", "1"] * 5), "'0', '1' of the baseline are not valid; expected"),
        (lambda: compared(list("ab") * 5, list("ab") * 5, measures=["neg-mae"]), "'neg-mae' is not valid for 'a'"),
        (lambda: compared(measures=["pass@2"]), "'pass@2' needs the item of each answer; expected groups"),
        (lambda: compared(measures=["pass@3"], groups=np.arange(10) // 2), "is not valid for an item of 2 answers"),
        (lambda: compared(measures=["pass@0"]), "'pass@0'"),
        (lambda: compared(score_range=(1, 0)), "score_range: (1, 0) is not valid; expected two numbers"),
        (lambda: compared(scores=(MARKS, MARKS), score_range=(0, 0.5), measures=["mean-score"]), "does not hold 1;"),
    ],
)  # fmt: skip
def test_what_is_compared_by_mistake_is_refused(call, complaint):
    with pytest.raises(ValueError) as caught:
        call()
    assert complaint in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_what_only_looks_like_a_mistake_is_compared():
    free = [f"answer {i}" for i in range(40)]  # free answers, all of them wrong
    assert compared(free, free, [f"{each}?" for each in free]).verdict == "fail"
    assert compared(list("ab") * 20, list("ab") * 20, ["none"] * 40).verdict == "fail"
    stars = np.tile([0.5, 1.0, 1.5, 2.0], 20)  # half stars are classes
    assert compared(stars, stars).measures == ("accuracy",)
    numbers = np.linspace(0.1, 1, 400)
    assert compared(numbers, numbers, measures=["accuracy"]).measures == ("accuracy",)


def test_slices_of_no_difference_are_judged_by_their_rows():
    y = np.zeros(5000, dtype=int)
    paired = pair_arrays(y, y, y.copy(), slices={"part": np.repeat([0, 1], [4980, 20])})
    assert [row.verdict for row in compare_pair(paired).rows] == ["pass", "pass", "inconclusive"]


def test_marks_of_no_common_fraction_have_certified_bounds():
    rng = np.random.default_rng(8)
    a, b = rng.random((2, 300))
    (row,) = sigstats.compare(a > 2, a > 2, b < 2, scores=(a, b - 0.05 * (b > 0.05)), measures=["mean-score"]).rows
    assert row.test == "sign flips of 300 rows, certified"
    differences = b - 0.05 * (b > 0.05) - a
    sums = (rng.integers(0, 2, (40_000, 300)) * 2 - 1) @ differences
    drawn = (sums <= differences.sum()).mean()  # its standard error is below 0.0025; five of them
    assert abs(row.p_worse - drawn) < 0.0125
    assert row.p_worse == pytest.approx(ttest_rel(a + differences, a, alternative="less").pvalue, rel=0.05)


@pytest.mark.parametrize("groups", [None, np.arange(60) // 2])
def test_what_rounding_leaves_of_no_difference_is_none(groups):
    marks = np.random.default_rng(1).random(60) + 0.1
    (row,) = sigstats.compare(
        [0, 1] * 30, [0] * 60, [1] * 60, scores=(marks, marks - 1e-15), measures=["mean-score"], groups=groups
    ).rows
    assert (row.p_worse, row.differing, row.difference) == (1, 0, 0)
