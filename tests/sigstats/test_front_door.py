"""Tests of counts take labels as they come; the words of other programs and the forms of data frames are understood."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest
from sklearn.metrics import confusion_matrix, f1_score, get_scorer_names, log_loss, roc_auc_score

import sigstats
from sigstats.measures.table import MEASURES, in_our_words
from sigstats.proportions import dcf_test, proportion_test
from sigstats.ranking.rank_sets import rank_sets

RNG = np.random.default_rng(3)
Y = np.array(["no", "yes"] * 60)
A = np.where(RNG.random(120) < 0.85, Y, "no")
B = np.where(RNG.random(120) < 0.7, Y, "yes")
OUTCOMES = sigstats.JointOutcomes.from_predictions(Y, A, B, positive="yes")
FEW = {"n_resamples": 99, "rng": 1}
#: A errs more often than B.
MORE_ERRORS = sigstats.JointOutcomes(e1=40, e2=14, e3=3, e4=3, e5=2, e6=4, e7=12, e8=123)
STEPS = np.linspace(0.01, 1, 40)
ODD = np.arange(40) % 2


@pytest.mark.parametrize(
    ("test", "counts", "options"),
    [
        (sigstats.mcnemar_test, sigstats.discordant_counts(Y, A, B), {"method": "mid-p"}),
        (sigstats.pair_probability, sigstats.discordant_counts(Y, A, B), {"prior": 0.5}),
        (proportion_test, [OUTCOMES], {"paired": False}),
        (dcf_test, [OUTCOMES], {"cost_fn": 1, "cost_fp": 2, "prior": 0.3}),
        (sigstats.f1_difference_interval, [OUTCOMES], {"confidence_level": 0.9}),
        (sigstats.bootstrap_test, [OUTCOMES], {"measure": "recall", **FEW}),
    ],
)
def test_labels_give_what_their_counts_give(test, counts, options):
    named = {} if len(counts) == 2 or test is proportion_test else {"positive": "yes"}
    expected = test(*counts, **options)
    assert test.from_predictions(Y, A, B, **named, **options) == expected
    for code in ({"no": 0, "yes": 1}, {"no": -1, "yes": 1}, {"no": False, "yes": True}):
        coded = [pd.Series(each).map(code) for each in (Y, A, B)]
        assert test.from_predictions(*coded, **options) == expected
    assert test.from_predictions(Y, A, B, **options) == expected
    if named:
        with pytest.raises(ValueError, match=r"^positive: is missing; expected one of '1', '2'"):
            test.from_predictions(*(1 + (each == "yes") for each in (Y, A, B)), **options)


def test_one_classifier_and_several_classes():
    assert sigstats.efficiency_test.from_predictions(Y, A) == sigstats.efficiency_test(confusion_matrix(Y, A))
    assert f1_score(Y, A, pos_label="yes") in sigstats.f1_interval.from_predictions(Y, A, positive="yes")
    y, a, b = (np.array(list("abc"))[RNG.integers(0, 3, 60)] for _ in range(3))
    events = sigstats.JointEvents.from_predictions(y, a, b)
    expected = sigstats.bootstrap_test(events, measure="macro-f1", **FEW)
    assert sigstats.bootstrap_test.from_predictions(y, a, b, measure="f1_macro", **FEW) == expected


def test_words_of_scikit_learn_are_names_of_measures():
    known = {in_our_words(name) for name in get_scorer_names()} & set(MEASURES)
    assert known >= {"accuracy", "auc", "balanced-accuracy", "f1", "macro-f1", "micro-f1", "neg-log-loss", "neg-brier"}
    assert known >= {"mcc", "precision", "macro-recall", "neg-mae", "neg-mse"}
    assert [in_our_words(name) for name in ("no_such", "macro-f1", 3)] == ["no_such", "macro-f1", 3]
    p = [0.01, 0.04, 0.03]
    for theirs, ours in (("fdr_bh", "benjamini-hochberg"), ("fdr_by", "benjamini-yekutieli")):
        adjusted = sigstats.adjust_pvalues(p, method=theirs)
        assert adjusted.tolist() == sigstats.adjust_pvalues(p, method=ours).tolist()
        assert sigstats.ComparisonRule(adjust=theirs) == sigstats.ComparisonRule(adjust=ours)


def test_areas_take_labels_and_the_columns_of_predict_proba():
    truth, (p, q) = Y == "yes", RNG.random((2, 120))
    expected = sigstats.auc_test(truth, p, q)
    columns = [np.column_stack([1 - each, each]) for each in (p, q)]
    named = [pd.DataFrame(each[:, ::-1], columns=["yes", "no"]) for each in columns]
    for y in (truth, truth.astype(int), 2 * truth - 1, pd.Series(truth).map({True: 1.0, False: 0.0})):
        assert sigstats.auc_test(y, *columns) == sigstats.auc_test(y, p, columns[1].tolist()) == expected
    for scores in ((p, q), columns, named):
        assert sigstats.auc_test(Y, *scores, positive="yes") == expected
    assert sigstats.auc_test(Y, *columns, positive="no").estimate == pytest.approx(expected.estimate)
    one, three = np.where(np.arange(120) % 3, Y, "perhaps"), RNG.dirichlet([1, 1, 1], 120)
    against_rest = sigstats.auc_test(one == "perhaps", three[:, 1], q)
    assert sigstats.auc_test(one, three, q, positive="perhaps") == against_rest
    for arguments, message in (
        ((truth + 1, p, q), "positive: is missing; expected one of '1', '2'"),
        ((Y, p, q, "maybe"), "positive: 'maybe' is not valid; expected one of no, yes"),
        ((Y, three, q, "yes"), r"score_a: the number of columns is 3; expected 2, one for each class, or the column"),
    ):
        with pytest.raises(ValueError, match=message):
            sigstats.auc_test(*arguments[:3], positive=arguments[3] if arguments[3:] else None)


def test_tests_of_counts_estimate_with_an_interval():
    won = sigstats.mcnemar_test(12, 3)
    theirs = binomtest(12, 15).proportion_ci()
    assert won.estimate == 9 / 15
    assert [*won.confidence_interval] == pytest.approx([2 * theirs.low - 1, 2 * theirs.high - 1])
    for only_b in range(13):  # the interval leaves 0 out where the exact test rejects
        found = sigstats.mcnemar_test(12, only_b)
        assert (0 in found.confidence_interval) == (found.pvalue > 0.05)
    right = sigstats.efficiency_test([[9, 1], [2, 8]])
    assert (right.estimate, [*right.confidence_interval]) == (0.85, [*sigstats.clopper_pearson(17, 20)])
    costs = proportion_test(OUTCOMES)
    assert (0 in costs.confidence_interval) == (costs.pvalue > 0.05)
    one = sigstats.accuracy_difference(9, 3, 150).confidence_interval
    stratified = sigstats.stratified_paired_test([9], [3], [150])
    assert [*stratified.confidence_interval] == pytest.approx([*one])
    many = sigstats.stratified_paired_test([9] * 4, [3] * 4, [150] * 4, weights="rows").confidence_interval
    assert many.low - 0.04 == pytest.approx((one.low - 0.04) / 2)  # four times the rows: half as wide
    for result in (won, right, costs, stratified):
        assert {"estimate", "low", "high"} < set(result.to_pandas())
        assert "interval" in str(result)


@pytest.mark.parametrize(
    ("test", "bounds"),
    [
        (lambda **way: sigstats.mcnemar_test(9, 4, **way), (-1, 1)),
        (lambda **way: sigstats.stratified_paired_test([9, 5], [3, 6], [150, 90], **way), (-1, 1)),
        (lambda **way: sigstats.sign_flip_test([1, 0, -1, 1, 1, 1, 0, 1], **way), (-1, 1)),
        (lambda **way: sigstats.signed_rank_test([0.2, 0.5, -0.1, 0.3, 0.7, 0.4], **way), (-np.inf, np.inf)),
        (
            lambda **way: sigstats.corrected_resampled_test([0.1, 0.2, -0.1, 0.3], n_train=9, n_test=1, **way),
            (-np.inf, np.inf),
        ),
        (lambda **way: sigstats.mean_score_test([0.1, 0.2, -0.1, 0.3], [0, 0.1, 0, 0.1], **way), (-np.inf, np.inf)),
        (lambda **way: proportion_test(OUTCOMES, **way), (-np.inf, np.inf)),
    ],
)  # fmt: skip
def test_an_interval_is_one_sided_if_the_test_is(test, bounds):
    low, high = test().confidence_interval
    above, below = (test(alternative=way).confidence_interval for way in ("greater", "less"))
    assert (above.high, below.low) == (bounds[1], bounds[0])
    assert low < above.low < below.high < high
    assert above.confidence_level == below.confidence_level == 0.95


def test_slices_are_columns_of_any_form():
    age = pd.Series(RNG.random(120) * 100, name="age")
    cut = pd.cut(age, [0, 50, 100])
    expected = sigstats.compare(Y, A, B, measures=["accuracy"], slices={"age": cut.astype(str).to_numpy()})
    for slices in (cut, pd.DataFrame({"age": cut}), {"age": cut}, {"age": pd.Categorical(cut)}):
        assert sigstats.compare(Y, A, B, measures="accuracy", slices=slices).rows == expected.rows
    gaps = sigstats.compare(Y, A, B, slices={"age": cut.where(age < 80)})
    assert {row.slice: row.n for row in gaps.rows}["age = (missing)"] == (age >= 80).sum()


def test_groups_of_text_are_those_of_their_numbers():
    numbers = np.arange(120) // 4
    names = [f"person {number:03d}" for number in numbers]
    scores, other = RNG.random((2, 120))
    for test, arguments in (
        (sigstats.auc_test, (Y == "yes", scores, other)),
        (sigstats.mean_score_test, (scores, other)),
        (rank_sets, (np.column_stack([A == Y, B == Y]),)),
    ):
        assert test(*arguments, groups=names) == test(*arguments, groups=numbers)


def test_a_random_state_is_a_source_of_draws():
    draws = [sigstats.bootstrap_test(OUTCOMES, n_resamples=99, rng=np.random.RandomState(5)) for _ in range(2)]
    assert draws[0] == draws[1]
    state = np.random.RandomState(5)
    assert sigstats.bootstrap_test(OUTCOMES, n_resamples=99, rng=state) == draws[0]
    assert sigstats.bootstrap_test(OUTCOMES, n_resamples=99, rng=state) != draws[0]


@pytest.mark.parametrize(
    "test",
    [
        lambda x, y, **way: sigstats.mcnemar_test(*(30, 9)[:: 1 if x > y else -1], **way),
        lambda x, y, **way: sigstats.stratified_paired_test([[30, 9][x < y]], [[9, 30][x < y]], [90], **way),
        lambda x, y, **way: proportion_test(MORE_ERRORS if x > y else MORE_ERRORS.swapped(), **way),
        lambda x, y, **way: dcf_test(
            MORE_ERRORS if x > y else MORE_ERRORS.swapped(), cost_fn=1, cost_fp=1, prior=0.5, **way
        ),
        lambda x, y, **way: sigstats.bootstrap_test(
            MORE_ERRORS if x > y else MORE_ERRORS.swapped(), measure="error", **FEW, **way
        ),
        lambda x, y, **way: sigstats.bootstrap_test(
            MORE_ERRORS.swapped() if x > y else MORE_ERRORS, measure="f1", **FEW, **way
        ),
        lambda x, y, **way: sigstats.mean_score_test(STEPS + x, 2 * STEPS + y, **way),
        lambda x, y, **way: sigstats.auc_test(ODD, ODD * x + STEPS, ODD * y + STEPS, **way),
        lambda x, y, **way: sigstats.sign_flip_test(x - y + STEPS - 0.5, **way),
        lambda x, y, **way: sigstats.signed_rank_test(x - y + STEPS - 0.5, **way),
        lambda x, y, **way: sigstats.anytime_test(np.tile(x - y + STEPS - 0.5, 4) / 4, **way),
        lambda x, y, **way: sigstats.corrected_resampled_test(x - y + STEPS - 0.5, n_train=9, n_test=1, **way),
        lambda x, y, **way: sigstats.judged_test(*[x > STEPS, y > STEPS] * 2, **way),
    ],
)  # fmt: skip
@pytest.mark.parametrize(("a", "b"), [(0.9, 0.2), (0.2, 0.9)])
def test_every_difference_is_of_the_first_less_the_second(test, a, b):
    greater, less = (test(a, b, alternative=way) for way in ("greater", "less"))
    assert (greater.estimate > 0) == (a > b) == (greater.pvalue < less.pvalue)
    assert greater.estimate == less.estimate
    for one, way in ((greater, "low"), (less, "high")):
        assert np.sign(getattr(one.confidence_interval, way)) in (np.sign(a - b), 0)


def test_probabilities_of_all_classes_give_the_log_loss_of_scikit_learn():
    y, classes = np.array(list("cab" * 40)), list("abc")
    a, b = (RNG.dirichlet(np.ones(3), 120) / 2 + (y[:, None] == classes) / 2 for _ in range(2))
    b[:60] = 1 / 3
    found = sigstats.compare(y, a, b, slices={"half": np.repeat(["first", "second"], 60)}, measures="neg_log_loss")
    row = found.rows[0]
    assert (row.baseline, row.candidate) == pytest.approx((-log_loss(y, a), -log_loss(y, b)))
    assert (found.rows[1].slice, found.rows[1].verdict) == ("half = first", "fail")
    by_name = [pd.DataFrame(each, columns=classes)[["b", "c", "a"]] for each in (a, b)]
    plain = sigstats.compare(y, a, b, measures="neg_log_loss").rows
    assert (plain[0].baseline, plain[0].candidate) == (row.baseline, row.candidate)
    assert sigstats.compare(y, *by_name, measures="neg_log_loss").rows == plain
    likeliest = [np.array(classes)[each.argmax(axis=1)] for each in (a, b)]
    assert sigstats.compare(y, *likeliest, scores=(a, b), measures="neg_log_loss").rows == plain
    usual = sigstats.compare(y, a, b)
    assert [each.measure for each in usual.rows] == ["accuracy", "neg-log-loss"]
    assert usual.rows[0].baseline == np.mean(likeliest[0] == y)
    assert sigstats.compare(y, a, a).identical
    for call, line in (
        (lambda: sigstats.compare(y, a, b, measures="roc_auc"), "^measures: 'auc' is not valid for 3 classes"),
        (lambda: sigstats.compare(y, a[:, :2], b), r"^baseline: the number of columns is 2"),
        (lambda: sigstats.compare(y, a, 2 * b), "^candidate .*sum to 1"),
    ):
        with pytest.raises(ValueError, match=line):
            call()


def test_probabilities_of_two_classes_are_those_of_the_positive_one():
    a, b = (RNG.dirichlet(np.ones(2), 120) / 2 + (Y[:, None] == ["no", "yes"]) / 2 for _ in range(2))
    for positive in ("yes", "no"):
        found = sigstats.compare(Y, a, b, measures=["roc_auc", "neg_log_loss"], positive=positive)
        areas = [roc_auc_score(Y == "yes", each[:, 1]) for each in (a, b)]
        assert [found.rows[0].baseline, found.rows[0].candidate] == pytest.approx(areas)
        assert found.rows[1].candidate == pytest.approx(-log_loss(Y, b))
    assert sigstats.compare(Y == "yes", a, b, measures="roc_auc").rows[0].baseline == pytest.approx(areas[0])
