"""The test by a judge and a few labels: McNemar's exact one, the law of weighted rows, level and coverage."""

import itertools
import math
from contextlib import nullcontext
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, fisher_exact
from statsmodels.stats.contingency_tables import mcnemar

import sigstats
from sigstats.unseen_row.judge_agreement import agreement_of, notes_on_one_value
from sigstats.unseen_row.judged import judged_rows, rows_of_one
from tests.examples import examples, simulated

NAN = math.nan


@pytest.mark.long
@given(st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(0, 40)).filter(any))
@settings(max_examples=examples(20))
def test_a_judge_that_never_prefers_leaves_mcnemars_exact_test(counts):
    a, b, same = counts
    people = np.repeat([[1, 0], [0, 1], [1, 1]], counts, axis=0).T
    judge = np.ones(a + b + same, dtype=bool)
    result = sigstats.judged_test(judge, judge, *people, n_resamples=100_000)
    exact = mcnemar([[0, a], [b, 0]], exact=True).pvalue
    assert result.pvalue == pytest.approx(exact, abs=5 * math.sqrt(exact / 100_000) + 2e-5)
    assert result.estimate == pytest.approx((a - b) / (a + b + same))


@pytest.mark.long
def test_the_interval_is_that_of_randomly_weighted_rows():
    """Rows and labels have exponential weights; 200 parts of the worst row go where each harms most."""
    rng = np.random.default_rng(2)
    judge = rng.random((2, 90)) < [[0.8], [0.6]]
    people = np.where(rng.random((2, 90)) < 0.85, judge, ~judge)
    labels = np.where(np.arange(90) < 40, people, NAN)
    verdict, seen, size = judge[0] * 1 - judge[1], (people[0] * 1 - people[1])[:40], 20_000
    of_rows, of_labels = rng.standard_exponential((size, 90)), rng.standard_exponential((size, 40))
    masks = [verdict == each for each in (-1, 0, 1)]
    shares = np.column_stack([of_rows[:, mask].sum(axis=1) for mask in masks]) / of_rows.sum(axis=1, keepdims=True)
    weights = np.column_stack([of_labels[:, mask[:40]].sum(axis=1) for mask in masks])
    sums = np.column_stack([of_labels[:, mask[:40]] @ seen[mask[:40]] for mask in masks])
    part, ends = rng.standard_exponential(size) / 200, []
    for worst in (-1, 1):
        total, moved = weights.copy(), sums.copy()
        for _ in range(200):
            after = (moved + worst * part[:, np.newaxis]) / (total + part[:, np.newaxis])
            most = (worst * shares * (after - moved / total)).argmax(axis=1)
            total[np.arange(size), most] += part
            moved[np.arange(size), most] += worst * part
        ends.append(np.quantile((shares * moved / total).sum(axis=1), 0.025 if worst < 0 else 0.975))
    low, high = sigstats.judged_test(*judge, *labels, n_resamples=60_000).confidence_interval
    assert [low, high] == pytest.approx(ends, abs=0.006)


def _pvalue(verdict, labelled, seen, size=1999, rng=0):
    """The two-sided p-value without what the result says besides."""
    law = judged_rows(
        verdict.astype(np.int64) + 1, labelled, seen[labelled].astype(float), np.array([-1.0, 0, 1]), None
    )
    return law.law(size, np.random.default_rng(rng)).pvalue(0.0, "two-sided")


def _coins(per):
    """The level at 5% of labels that are coins, so many in each of three verdicts, by all tables."""
    verdict, rejected = np.repeat([-1, 0, 1], 100), 0
    labelled = np.arange(300) % 100 < np.repeat(per, 100)
    for ahead in itertools.product(*(range(each + 1) for each in per)):
        seen = np.where(np.arange(300) % 100 < np.repeat(ahead, 100), 1, -1)
        ways = math.prod(math.comb(each, number) for each, number in zip(per, ahead, strict=True))
        rejected += ways * (_pvalue(verdict, labelled, seen, 9_999) <= 0.05)
    return rejected / 2 ** sum(per)


@pytest.mark.long
@pytest.mark.parametrize("per", [(1, 1, 1), (2, 2, 2), (1, 1, 4), (3, 3, 2)])
def test_few_labels_that_all_agree_keep_the_level(per):
    assert _coins(per) <= 0.05


def test_three_labels_one_in_each_verdict_say_no_more_than_mcnemars_test():
    judge = np.repeat([[0, 1, 1], [1, 1, 0]], 100, axis=1)
    labels = np.where(np.arange(300) % 100 == 0, [[1.0], [0.0]], NAN)
    assert sigstats.judged_test(*judge, *labels).pvalue > mcnemar([[0, 3], [0, 0]], exact=True).pvalue == 0.25


def _differing(rng, share, chance):
    """Two equal models that give 2,000 rows the same answer but for a share, where one is right, and the judge errs."""
    differ, right = rng.random(2000) < share, rng.random(2000) < 0.7
    people = np.where(differ, rng.random(2000) < 0.5, right)
    judge = np.where(differ & (rng.random(2000) < chance), ~people, people)
    return [np.array([each, np.where(differ, ~each, each)]) for each in (judge, people)]


@pytest.mark.long
@pytest.mark.parametrize("error", [0.5, 0.0])
@pytest.mark.parametrize(("labels", "share"), [(30, 0.13), (100, 0.04), (10, 1.0)])
def test_a_coin_and_a_perfect_judge_keep_the_level(labels, share, error):
    rng, trials, rejected = np.random.default_rng(labels), simulated(400), 0
    for trial in range(trials):
        judge, people = (1 * first - second for first, second in _differing(rng, share, error))
        rejected += _pvalue(judge, rng.permutation(2000) < labels, people, rng=trial) <= 0.05
    assert rejected <= binom.ppf(0.9999, trials, 0.05)


@pytest.mark.long
@pytest.mark.parametrize("labels", [30, 50, 200])
def test_equal_models_of_a_judge_that_errs_for_one_keep_the_level(labels):
    """2,000 rows, specificity .70 for A and .55 for B; the judge alone is significant in most trials."""
    rng, trials = np.random.default_rng(labels), simulated(150)
    corrected = judge_alone = 0
    for _ in range(trials):
        people = rng.random((2, 2000)) < 0.8
        judge = np.where(people, rng.random((2, 2000)) < 0.9, rng.random((2, 2000)) >= [[0.7], [0.55]])
        seen = np.where(np.arange(2000) < labels, people, NAN)
        corrected += sigstats.judged_test(*judge, *seen, n_resamples=1999).pvalue <= 0.05
        a, b = np.count_nonzero(judge[0] & ~judge[1]), np.count_nonzero(judge[1] & ~judge[0])
        judge_alone += sigstats.mcnemar_test(a, b).pvalue <= 0.05
    assert judge_alone > 0.5 * trials
    assert corrected <= 0.05 * trials + 3 * math.sqrt(trials * 0.05 * 0.95)


@pytest.mark.long
def test_labels_may_be_more_frequent_with_one_verdict():
    """Every row on which the judge prefers one model is labelled and a tenth of the others: no bias, in the mean."""
    rng, estimates = np.random.default_rng(5), []
    for _ in range(simulated(200)):
        people = rng.random((2, 600)) < [[0.8], [0.7]]
        judge = np.where(people, rng.random((2, 600)) < 0.9, rng.random((2, 600)) >= 0.6)
        chosen = (judge[0] != judge[1]) | (rng.random(600) < 0.1)
        estimates.append(sigstats.judged_test(*judge, *np.where(chosen, people, NAN), n_resamples=999).estimate)
    assert np.mean(estimates) == pytest.approx(0.1, abs=4 * np.std(estimates) / math.sqrt(len(estimates)))


def test_the_side_and_the_margin():
    rng = np.random.default_rng(1)
    people = rng.random((2, 400)) < [[0.9], [0.6]]
    judge = np.where(rng.random((2, 400)) < 0.9, people, ~people)
    labels = np.where(np.arange(400) < 150, people, NAN)
    ahead = sigstats.judged_test(*judge, *labels, alternative="greater")
    behind = sigstats.judged_test(*judge[::-1], *labels[::-1], alternative="less")
    assert ahead.pvalue < 0.001
    assert behind.pvalue < 0.001
    assert ahead.estimate == pytest.approx(-behind.estimate)
    assert ahead.confidence_interval.high == 1
    assert behind.confidence_interval.low == -1
    assert ahead.confidence_interval.low == pytest.approx(-behind.confidence_interval.high, abs=0.01)
    at_end = sigstats.judged_test(*judge, *labels, alternative="greater", margin=ahead.confidence_interval.low)
    assert at_end.pvalue == pytest.approx(0.05, abs=0.001)
    assert sum(ahead.labels_wanted) <= 150
    assert ahead.rows == tuple(np.bincount(judge[0] * 1 - judge[1] + 1))


def test_so_many_labels_decide_as_are_wanted_if_people_go_on_as_they_began():
    verdict = np.repeat([-1, 0, 1], [400, 2000, 600])
    place = np.concatenate([np.arange(400), np.arange(2000), np.arange(600)])
    judge = np.array([verdict > -1, verdict < 1])
    seen = np.where(place % 5 < 4, verdict, 0) + np.where((verdict == 0) & (place % 10 == 9), 1, 0)
    people = np.array([seen > -1, seen < 1])

    def test(labels):
        labelled = place < np.asarray(labels)[verdict + 1]
        return sigstats.judged_test(*judge, *np.where(labelled, people, NAN))

    few = test([20, 20, 20])
    assert few.pvalue > 0.05
    assert few.labels == (20, 20, 20)
    assert sum(few.labels_wanted) > 60
    whole = [10 * math.ceil(each / 10) for each in few.labels_wanted]  # of the pattern
    assert test(whole).pvalue <= 0.05
    assert test([max(20, each - 30) for each in whole]).pvalue > 0.05


def test_groups_of_one_row_are_rows_and_copies_of_a_row_in_a_group_add_nothing():
    rng = np.random.default_rng(7)
    people = rng.random((2, 240)) < [[0.85], [0.7]]
    judge = np.where(rng.random((2, 240)) < 0.85, people, ~people)
    labels = np.where(np.arange(240) < 90, people, NAN)
    alone = sigstats.judged_test(*judge, *labels)
    grouped = sigstats.judged_test(*judge, *labels, groups=np.arange(240))
    assert list(grouped.confidence_interval) == pytest.approx(list(alone.confidence_interval), abs=0.012)
    assert grouped.estimate == alone.estimate
    assert grouped.errors_pvalue == pytest.approx(alone.errors_pvalue)
    tripled = [np.repeat(each, 3, axis=1) for each in (judge, labels)]
    copies = sigstats.judged_test(*tripled[0], *tripled[1], groups=np.repeat(np.arange(240), 3))
    assert list(copies.confidence_interval) == pytest.approx(list(grouped.confidence_interval), abs=1e-9)
    assert copies.errors_pvalue == grouped.errors_pvalue
    assert (copies.n, copies.n_groups, copies.n_labels) == (720, 240, 270)
    naive = sigstats.judged_test(*tripled[0], *tripled[1])
    assert np.subtract(*naive.confidence_interval) > np.subtract(*copies.confidence_interval)  # narrower


def test_marks_of_right_and_wrong_are_verdicts_and_scale_with_their_limits():
    rng = np.random.default_rng(8)
    people = rng.random((2, 200)) < [[0.85], [0.7]]
    judge = np.where(rng.random((2, 200)) < 0.85, people, ~people)
    labels = np.where(np.arange(200) < 60, people, NAN)
    verdicts = sigstats.judged_test(*judge, *labels)
    marks = sigstats.judged_test(*judge * 1.0, *labels, score_range=(0, 1))
    assert marks.confidence_interval == verdicts.confidence_interval
    assert (marks.pvalue, marks.labels_wanted) == (verdicts.pvalue, verdicts.labels_wanted)
    wide = sigstats.judged_test(*1 + 9.0 * judge, *1 + 9.0 * labels, score_range=(1, 10))
    assert list(wide.confidence_interval) == pytest.approx([9 * end for end in marks.confidence_interval])
    assert wide.pvalue == marks.pvalue
    assert wide.agreement == verdicts.agreement


def test_a_judge_that_gives_one_mark_leaves_the_interval_of_peoples_marks():
    """With one verdict the interval is that of a mean with an unseen row."""
    rng = np.random.default_rng(9)
    marks = rng.beta(2, 3, size=(2, 40)).round(3)
    result = sigstats.judged_test(np.ones(40), np.ones(40), *marks, score_range=(0, 1), n_resamples=100_000)
    found = sigstats.sign_flip_test(marks[0] - marks[1], limit=1).confidence_interval
    assert list(result.confidence_interval) == pytest.approx(list(found), abs=0.004)
    assert result.estimate == pytest.approx((marks[0] - marks[1]).mean())


def test_the_guarantee_is_exact_with_one_verdict_of_rows_alone():
    judge, people = [1, 1, 1, 1], [1, 1, 0, None]
    assert sigstats.judged_test(judge, judge, people, people).guarantee == "exact"
    assert sigstats.judged_test(judge, judge, people, people, groups=[1, 1, 2, 2]).guarantee == "simulated"
    assert sigstats.judged_test([1, 0, 1, 1], judge, people, people).guarantee == "simulated"


def test_agreement_counts_and_its_intervals():
    judge, people = [1, 1, 1, 0, 0], [1, 1, 0, 1, None]
    result = sigstats.judged_test(judge, judge, people, people)
    assert result.agreement[0] == (2, 1, 1, 0)
    assert result.n_labels == 4
    assert result.agreement[0].agreement() == sigstats.clopper_pearson(2, 4)
    assert result.agreement[0].sensitivity() == sigstats.clopper_pearson(2, 3)
    assert result.agreement[0].specificity() == sigstats.clopper_pearson(0, 1)


def test_a_verdict_without_labels_may_hide_anything():
    labels = [[1] * 49 + [0] + [NAN] * 50, [0] + [1] * 49 + [NAN] * 50]
    result = sigstats.judged_test([1] * 50 + [0] * 50, [1] * 100, *labels)
    low, high = result.confidence_interval
    assert low < -0.5
    assert high > 0.4
    assert result.reason == "no label among 50 rows where the judge prefers B"


def test_marks_beyond_their_limits_are_named():
    with pytest.raises(ValueError, match=r"people_a\[1\]: 1\.5 .*marks from 0 to 1"):
        sigstats.judged_test([0.2, 0.4], [0.3, 0.1], [0.1, 1.5], [0.1, 0.2], score_range=(0, 1))


@pytest.mark.parametrize(
    ("people", "said"),
    [
        ([1, 0, NAN], r"people_a: the length is 3; expected 4, as judge_a"),
        ([1, 0, 2, NAN], r"people_a\[2\]: 2\.0"),
        (["yes", "no", None, None], r"people_a\[0\]: 'yes'"),
        ([None] * 4, "people_a, people_b: 0 .*one row or more"),
    ],
)
def test_what_is_no_label_is_named(people, said):
    with pytest.raises(ValueError, match=said):
        sigstats.judged_test([1, 0, 1, 0], [1, 1, 1, 0], people, people)


@pytest.mark.parametrize("limits", [None, (1, 10)])
@pytest.mark.parametrize("inverted", [(), (0,), (1,), (0, 1)])
@given(seed=st.integers(0, 99), error=st.sampled_from([0.0, 0.1, 0.5]))
@settings(max_examples=examples(20))
def test_labels_that_contradict_the_judge_are_refused_for_either_model(limits, inverted, seed, error):
    rng = np.random.default_rng(seed)
    right = rng.random((2, 300)) < 0.6
    judge = np.where(rng.random(right.shape) < error, ~right, right)
    people = np.where(rng.random(right.shape) < 0.7, right, np.nan)
    low, high = limits or (0, 1)
    people = low + (high - low) * people
    people[[*inverted]] = low + high - people[[*inverted]]
    judged = partial(sigstats.judged_test, *(judge if limits is None else 1 + 9 * judge), *people, score_range=limits)
    if error < 0.5 and inverted:
        with pytest.raises(ValueError, match=f"people_{'ab'[inverted[0]]} contradicts the judge"):
            judged(n_resamples=999)
    else:  # labels that agree, and those of a judge that guesses, are taken
        assert judged(n_resamples=999).n_labels > 0


@pytest.mark.parametrize("limits", [(0, 1), (1, 10)])
@pytest.mark.parametrize("value", [0, 1])
def test_labels_of_one_value_are_refused_by_fishers_exact_test_and_noted_otherwise(value, limits):
    rng, seen = np.random.default_rng(3), set()
    for n, share, chosen in itertools.product((60, 300, 9000), (0.0, 0.3, 0.95), (0.0, 0.1, 0.3, 0.7)):
        judge = rng.random(n) < share
        labelled = rng.random(n) < np.where(judge == value, 0.4, 0.4 * (1 - chosen))
        people = np.where(labelled, limits[value], NAN)
        table = [[(judge & has).sum(), (~judge & has).sum()] for has in (labelled, ~labelled)]
        refused = fisher_exact(table).pvalue <= 1e-3
        told = partial(notes_on_one_value, limits=limits, units=None, names=("x", "y"))
        message = f"x: all {labelled.sum():,} labels are {limits[value]}"
        if refused:
            with pytest.raises(
                ValueError, match=f"{message}, and .*does an empty field mean {limits[1 - value]} or not"
            ):
                told([judge] * 2, [people] * 2)
        else:
            notes = told([judge] * 2, [people] * 2)
            assert (len(notes), str(notes[0]).startswith(message)) == (2, True)
        seen.add(refused)
        # Both values, or labels of the same rows that have both: empty fields are rows without a label.
        others = np.where(labelled, limits[1 - value], NAN)
        assert not told([judge] * 2, [np.where(np.cumsum(labelled) == 1, others, people)] * 2)
        assert not told([judge] * 2, [people, others])
        assert not told([judge] * 2, [people, people, others])  # a third model
    assert seen == {True, False}


def test_ticks_in_place_of_labels_are_refused():
    right = np.arange(900) * 7 % 10 < 8
    judge, looked = np.where(np.arange(900) % 9 == 0, ~right, right), np.arange(900) % 4 == 0
    with pytest.raises(ValueError, match=r"people_a: all 180 labels are 1, and the judge calls 88\.9% of these"):
        sigstats.judged_test(judge, judge, *[np.where(looked & right, 1, NAN)] * 2)
    frame = pd.DataFrame({"judge": judge * 1, "human": np.where(looked & right, 1, NAN)})
    with pytest.raises(ValueError, match=r"'human': all 180 labels are 1, .*or not labelled"):
        sigstats.check(frame, score="judge", human="human", at_least=0.9)
    # A few documents of which all rows are labelled: only their first rows count.
    verdicts, documents = np.repeat([1, 0], 300).astype(bool), np.repeat(np.arange(12), 50)
    people = np.where(documents % 6 < 1 + verdicts, 1, NAN)
    result = sigstats.judged_test(verdicts, verdicts, people, people, groups=documents, n_resamples=999)
    assert "people_a: all 150 labels are 1; if an empty field means 0, write 0 there" in result.reason


def test_contradictions_are_those_of_fishers_exact_test():
    """Also those beyond the values whose probabilities are computed, as of hundreds of inverted labels."""
    rng, refusals = np.random.default_rng(9), 0
    for n in (5, 20, 50, 120, 400, 1000, 3000, 20_000):
        for share in (0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.9):
            people = rng.random(n) < 0.4
            judge = np.where(rng.random(n) < share, people, ~people)
            table = [
                [(judge & people).sum(), (~judge & people).sum()],
                [(judge & ~people).sum(), (~judge & ~people).sum()],
            ]
            contradicts = fisher_exact(table, alternative="less").pvalue < 1e-4
            refusals += contradicts
            with pytest.raises(ValueError, match="contradicts the judge") if contradicts else nullcontext():
                agreement_of(judge, people)
    assert 20 < refusals < 50


def test_the_law_of_many_groups_is_that_of_an_exponential_weight_each():
    rng = np.random.default_rng(6)
    rows, draws = 27_000, 500
    units, labelled = np.arange(rows) // 3, np.arange(rows) % 10 < 3
    verdict, seen = rng.integers(-1, 2, rows), rng.integers(-1, 2, rows).astype(float)
    judged = judged_rows(verdict + 1, labelled, seen[labelled], np.array([-1.0, 0, 1]), units)
    law = judged.law(draws, np.random.default_rng(2))
    weights = rng.standard_exponential((draws, 9_000))
    truth = np.zeros(draws)
    for side in (-1, 0, 1):
        of_units = [np.bincount(units, part * (verdict == side), 9_000) for part in (1.0, labelled, labelled * seen)]
        of_side, labels, differences = (weights @ total for total in of_units)
        truth += of_side / (3 * weights.sum(axis=1)) * differences / labels
    middle = (law.against_a + law.against_b) / 2
    assert middle.std() == pytest.approx(truth.std(), rel=0.2)
    assert np.median(middle) == pytest.approx(np.median(truth), abs=0.35 * truth.std())


@pytest.mark.long
@pytest.mark.parametrize("shares", [(0.5, 0.5), (0.9, 0.1), (0.05, 0.95)])
@pytest.mark.parametrize("labels", [(1, 1), (1, 4), (3, 3), (8, 8)])
def test_the_rate_of_one_model_is_covered_for_every_judge_with_few_labels(shares, labels):
    """By all outcomes, over a grid of what people say of the rows that the judge calls wrong and right."""
    rows, ends = (1000 * np.array(shares)).astype(int), np.empty((labels[0] + 1, labels[1] + 1))
    judge = np.repeat([0.0, 1.0], rows)
    for hits in np.ndindex(ends.shape):
        people = np.full(1000, NAN)
        for first, of, right in zip((0, rows[0]), labels, hits, strict=True):
            people[first : first + of] = np.arange(of) < right
        ends[hits] = rows_of_one(judge, people, (0.0, 1.0), None).law(20_000, np.random.default_rng(1)).low(0.025)
    for wrong, right in itertools.product(np.linspace(0, 1, 41), repeat=2):
        chances = np.outer(*(binom.pmf(np.arange(of + 1), of, p) for of, p in zip(labels, (wrong, right), strict=True)))
        assert chances[ends > shares[0] * wrong + shares[1] * right + 0.003].sum() <= 0.0255


def test_one_verdict_of_the_judge_leaves_clopper_and_pearsons_interval():
    people = np.array([1.0] * 17 + [0.0] * 3 + [NAN] * 80)
    law = rows_of_one(np.ones(100), people, (0.0, 1.0), None).law(200_000, np.random.default_rng(0))
    low, high = sigstats.clopper_pearson(17, 20)
    assert (law.low(0.025), law.high(0.025)) == pytest.approx((low, high), abs=0.003)
