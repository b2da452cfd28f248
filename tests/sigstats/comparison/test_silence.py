"""What a comparison says where no difference was seen, and of means, beside random weights."""

import numpy as np
import pytest
from scipy.stats import beta

import sigstats
from sigstats.comparison.answer import evidence_in_words
from sigstats.comparison.compare import compare_pair
from sigstats.comparison.paired_predictions import pair_arrays

TEN = [0, 1] * 5
MARKS = [0.5, 1.0, 0.0, 0.25, 1.0] * 2


def compared(y=TEN, a=TEN, b=None, **options):
    return sigstats.compare(y, a, list(a) if b is None else b, **options)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"measures": ["mean-score"], "scores": (MARKS, list(MARKS))},
        {"measures": ["auc", "neg-brier"], "scores": (MARKS, list(MARKS))},
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
        assert (row.verdict, row.difference, row.pvalue, row.silent) == ("inconclusive", 0, 1, True)
        assert (row.pd, row.nsd) == (1, 0)
        assert row.low is None or row.low < -0.1


def test_what_differs_nowhere_is_limited_as_a_share_that_was_never_seen():
    y = [0, 1, 1, 1] * 250
    scores = np.linspace(0, 1, 1000)
    found = compared(y, y, measures=["macro-f1", "auc"], scores=(scores, scores.copy()))
    # of the 250 rows of the rarer class, none was seen to differ; F1s are means of both classes, by random weights
    most = beta.ppf(0.975, 1, 250)
    f1, auc = found.rows
    assert (-auc.low, auc.high) == (pytest.approx(most), pytest.approx(most))
    assert most / 4 < -f1.low < most / 2
    (row,) = sigstats.compare(
        y, y, list(y), measures=["mean-score"], scores=(scores, scores.copy()), score_range=(0, 10)
    ).rows
    # Clopper and Pearson's limit of 0 in n, in units of the range
    assert -row.low == pytest.approx(10 * beta.ppf(0.975, 1, 1000), rel=1e-6)


@pytest.mark.parametrize("measure", ["macro-recall", "auc", "mean-score"])
def test_one_row_more_of_the_other_kind_does_not_turn_a_warning_into_a_pass(measure):
    """Where one positive is ranked worse, the candidate does not pass at a margin at which it did not before."""
    y = np.arange(400) < 30
    a = y + np.linspace(0, 0.5, 400)
    b = np.where(np.arange(400) == 3, -1.0, a)
    calls = (a > 0.75) * 1, (b > 0.75) * 1
    options = {"measures": [measure], "rule": sigstats.ComparisonRule(margin=0.05)}
    options |= {"score_range": (-1, 2)} if measure == "mean-score" else {}
    alike, apart = (None, None) if measure == "macro-recall" else ((a, a.copy()), (a, b))
    equal = sigstats.compare(y * 1, calls[0], calls[0].copy(), scores=alike, **options)
    worse = sigstats.compare(y * 1, *calls, scores=apart, **options)
    assert worse.rows[0].low < equal.rows[0].low
    if measure != "mean-score":  # of 400 rows one more is little
        assert (equal.verdict, worse.verdict) == ("inconclusive", "inconclusive")


def test_the_same_thing_decides_as_an_equal_one():
    found, equal = compared(TEN, TEN, TEN), compared(TEN, TEN, list(TEN))
    assert (found.identical, equal.identical) == (True, False)
    assert found.rows == equal.rows
    assert found.answer.also[0][1].startswith("both inputs have the same content")
    assert not sigstats.compare(TEN, TEN, TEN, scores=(MARKS, list(MARKS)), measures=["mean-score"]).identical


def test_without_limits_nothing_passes_and_the_limits_can_be_named():
    rng = np.random.default_rng(4)
    y, a, b = rng.normal(size=(3, 3000)).round(3)
    rule = sigstats.ComparisonRule(margin="50pt", relative_margin=0.5)
    for measures, span in ((["neg-mae"], 20), (["neg-mse"], 400)):
        (row,) = sigstats.compare(y, a, b, measures=measures, rule=rule).rows
        assert (row.verdict, row.low > -0.5) == ("inconclusive", True)
        assert "limits of a row are not known" in row.note
        (named,) = sigstats.compare(y, a, b, measures=measures, rule=rule, score_range=(-10, 10)).rows
        # about the weight of the unseen row, at most that with probability 0.975
        assert 0.3 * span / 3000 < row.low - named.low < 3.7 * span / 3000
    assert sigstats.compare(y, a, b, measures=["neg-mae"], rule=rule, score_range=(-10, 10)).verdict == "pass"
    with pytest.raises(ValueError, match=r"score_range: -1 to 1 does not contain"):
        sigstats.compare(y, a, b, measures=["neg-mae"], score_range=(-1, 1))


def test_a_probability_of_0_of_what_is_true_is_an_infinite_loss():
    y = np.array([0, 1] * 500)
    a = np.where(y == 1, 0.9, 0.1)
    b = a.copy()
    b[3] = 0.0
    call = {"measures": ["accuracy", "neg-log-loss"], "scores": (a, b)}
    row = sigstats.compare(y, y, 1 - y, **call).rows[1]
    assert row.pvalue is None
    assert "infinite loss: the true class has probability 0 in 1 rows of the candidate" in row.note
    with pytest.raises(ValueError, match=r"^scores: infinite loss: .*; score_range names .* such as 0.001 0.999"):
        sigstats.compare(y, y, 1 - y, measures=["neg-log-loss"], scores=(a, b))
    row = sigstats.compare(y, y, 1 - y, **call, score_range=(0.01, 0.99)).rows[1]
    assert row.note.endswith("1 probabilities outside of 0.01 to 0.99 count as these limits")
    assert row.difference == pytest.approx((np.log(0.01) - np.log(0.9)) / 1000)


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (lambda: compared(np.linspace(0.1, 1, 400), np.linspace(0.2, 1, 400)), "772 different numbers such as 0.1"),
        (lambda: compared(["good", "bad"] * 5, ["good", "bad"] * 5, ["0", "1"] * 5), "'0', '1' of the candidate"),
        (lambda: compared(["good", "bad"] * 5, ["0", "1"] * 5), "'0', '1' of the model are not valid; expected"),
        (lambda: compared(list("ab") * 5, list("ab") * 5, measures=["neg-mae"]), "'neg-mae' is not valid for 'a'"),
        (lambda: compared(measures=["pass@2"]), "'pass@2' needs the item of each answer; expected groups"),
        (lambda: compared(measures=["pass@3"], groups=np.arange(10) // 2), "is not valid for an item of 2 answers"),
        (lambda: compared(measures=["pass@0"]), "'pass@0'"),
        (lambda: compared(score_range=(1, 0)), "score_range: (1, 0) is not valid; expected two numbers"),
        (lambda: compared(score_range=(0, 5)), "score_range: 0 to 5 is not used by accuracy; expected a measure of"),
        (lambda: sigstats.assert_at_least(TEN, TEN, at_least=0.5, score_range=(0, 5)), "is not used by accuracy;"),
        (lambda: compared(scores=(MARKS, MARKS), score_range=(0, 0.5), measures=["mean-score"]), "does not contain 1;"),
    ],
)  # fmt: skip
def test_what_is_compared_by_mistake_is_refused(call, complaint):
    with pytest.raises(ValueError) as caught:
        call()
    assert complaint in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_what_only_looks_like_a_mistake_is_compared():
    free = [f"answer {i}" for i in range(40)]  # free answers, all of them wrong
    assert compared(free, free, [f"{7 * i} or so" for i in range(40)]).verdict == "fail"
    assert compared(list("ab") * 20, list("ab") * 20, ["other"] * 40).verdict == "fail"
    stars = np.tile([0.5, 1.0, 1.5, 2.0], 20)  # half stars are classes
    assert compared(stars, stars).measures == ("accuracy",)
    numbers = np.linspace(0.1, 1, 400)
    assert compared(numbers, numbers, measures=["accuracy"]).measures == ("accuracy",)


def test_slices_of_no_difference_are_judged_by_their_rows():
    y = np.zeros(5000, dtype=int)
    paired = pair_arrays(y, y, y.copy(), slices={"part": np.repeat([0, 1], [4980, 20])})
    assert [row.verdict for row in compare_pair(paired).rows] == ["pass", "pass", "inconclusive"]


@pytest.mark.parametrize("groups", [None, np.arange(60) // 2])
def test_what_rounding_leaves_of_no_difference_is_none(groups):
    marks = np.random.default_rng(1).random(60) + 0.1
    (row,) = sigstats.compare(
        [0, 1] * 30, [0] * 60, [1] * 60, scores=(marks, marks - 1e-15), measures=["mean-score"], groups=groups
    ).rows
    assert (row.pvalue, row.differing, row.difference) == (1, 0, 0)


@pytest.mark.parametrize("sign", [-1, 1])
def test_bounds_that_are_wide_on_both_sides_lean_to_neither(sign):
    """Of five groups p of either side is near 1: it is no evidence of the other, whichever model is ahead."""
    label, groups = np.ones(30, int), np.repeat(np.arange(5), 6)
    a, b = label.copy(), label.copy()
    a[[0, 6, 12]], b[[1, 7, 13, 19]] = 0, 0
    models, rule = (a, b) if sign < 0 else (b, a), sigstats.ComparisonRule(smallest_slice=5)
    (row,) = sigstats.compare(label, *models, groups=groups, rule=rule).rows
    assert np.sign(row.difference) == sign
    assert (row.two_sided_pvalue, row.pvalue > 0.75) == (1, True)
    assert (row.pd, row.psd, row.nsd) == (1, 0, 0)
    assert evidence_in_words(row, rule) == "no evidence either way"
