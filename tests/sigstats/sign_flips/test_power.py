"""The power of the test of repeated answers against enumeration, McNemar's power, moments and simulation."""

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.special import expit

import sigstats
from sigstats.mcnemar.power import exact_power
from sigstats.sign_flips import power as of_answers
from sigstats.sign_flips.law import pvalue_of_sum
from sigstats.sign_flips.power_of_flips import item_law, power_of_flips

from ...examples import examples


def urn(p_a, p_b, answers, correlation):
    """How probable it is that A is ahead by d of K answers, as a mixture, by Pólya's urn in rationals."""
    shares = {1: Fraction(p_a), -1: Fraction(p_b), 0: 1 - Fraction(p_a) - Fraction(p_b)}
    law = Counter()
    for drawn in itertools.product(shares, repeat=answers):
        chance = Fraction(1)
        for position, each in enumerate(drawn):
            before = drawn[:position].count(each)
            # The urn holds (1 - r) / r balls and takes one more of the colour of each that is drawn.
            chance *= ((1 - correlation) * shares[each] + correlation * before) / (
                (1 - correlation) + correlation * position
            )
        law[sum(drawn)] += chance
    return law


def rejected(differences, alternative, alpha):
    """Whether the test rejects, by its p-value."""
    magnitudes = [abs(each) for each in differences if each]
    positive = sum(each for each in differences if each > 0)
    return pvalue_of_sum(magnitudes, positive, sum(magnitudes) - positive, alternative).high <= alpha


@pytest.mark.long
@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize(
    ("n", "answers", "correlation"),
    [(4, 2, Fraction(3, 10)), (3, 3, Fraction(1, 10)), (4, 2, Fraction(0)), (5, 2, Fraction(1, 2))],
)
def test_enumeration_of_every_outcome(n, answers, correlation, alternative):
    p_a, p_b = Fraction(3, 10), Fraction(1, 10)
    law = urn(p_a, p_b, answers, correlation)
    for alpha in (0.0625, 0.25, 0.4):
        wanted = Fraction(0)
        for differences in itertools.product(law, repeat=n):
            if rejected(differences, alternative, alpha):
                wanted += math.prod(law[each] for each in differences)
        found = sigstats.paired_power(
            n,
            only_a=float(p_a),
            only_b=float(p_b),
            answers=answers,
            correlation=float(correlation),
            alpha=alpha,
            alternative=alternative,
        )
        assert found == pytest.approx(float(wanted), abs=1e-12)


@settings(deadline=None, max_examples=examples(60))
@given(st.integers(1, 400), st.floats(0, 0.5), st.floats(0, 0.5), st.sampled_from(["exact", "mid-p", "chi2"]))
def test_one_answer_is_mcnemar_to_the_last_bit(n, p_a, p_b, method):
    options = {"only_a": p_a, "only_b": p_b, "method": method}
    assert sigstats.paired_power(n, **options) == sigstats.paired_power(n, **options, answers=1)


@pytest.mark.parametrize("n", [20, 200])
def test_transforms_give_the_power_of_mcnemar_too(n):
    rule = of_answers._exact_rule(0.05, "two-sided", "exact", False)
    found = power_of_flips(n, np.array([0.205, 0.64, 0.155]), rule)
    assert found == pytest.approx(exact_power(n, 0.155, 0.205, rule), abs=1e-13)


def test_answers_that_say_the_same_are_one_answer():
    options = {"only_a": 0.2, "only_b": 0.1, "alternative": "greater"}
    one = sigstats.paired_power(150, **options)
    assert sigstats.paired_power(150, **options, answers=7, correlation=1) == pytest.approx(one, abs=1e-12)
    sure = {"accuracy_a": [1, 0, 1, 0, 0], "accuracy_b": [1, 0, 0, 1, 0]}  # an item is always answered alike
    assert sigstats.paired_power(60, **sure, answers=4) == pytest.approx(sigstats.paired_power(60, **sure), abs=1e-12)


@pytest.mark.parametrize("answers", [1, 4])
def test_items_of_one_accuracy_are_independent_answers(answers):
    of_items = sigstats.paired_power(80, accuracy_a=[0.7], accuracy_b=[0.6], answers=answers)
    same = sigstats.paired_power(80, only_a=0.7 * 0.4, only_b=0.6 * 0.3, answers=answers, correlation=0)
    assert of_items == pytest.approx(same, abs=1e-12)


@settings(deadline=None, max_examples=examples(40))
@given(st.floats(0.01, 0.5), st.floats(0.01, 0.49), st.integers(2, 12), st.floats(0, 1))
@example(0.5, 0.25, 12, 1.6e-9)
def test_the_law_of_an_item_has_the_mean_and_the_correlation_given(p_a, p_b, answers, correlation):
    law = item_law(p_a, p_b, None, None, None, answers, correlation)
    ahead = np.arange(-answers, answers + 1)
    mean, variance = law @ ahead, law @ ahead**2 - (law @ ahead) ** 2
    one = p_a + p_b - (p_a - p_b) ** 2
    assert mean == pytest.approx(answers * (p_a - p_b), abs=1e-11)
    assert variance == pytest.approx(answers * one * (1 + (answers - 1) * correlation), rel=1e-9)


@pytest.mark.long
@pytest.mark.parametrize(("n", "answers", "shift"), [(60, 5, 0.5), (120, 10, 0.3), (200, 3, 0.0)])
def test_simulation_of_models_that_share_what_is_hard(n, answers, shift):
    """4,000 trials: more than 4.5 standard errors from the truth once in 150,000 runs of a case."""
    rng = np.random.default_rng([5, n])
    shared, own = rng.normal(size=2000), rng.normal(size=(2, 2000))
    chances = expit(2 * (math.sqrt(0.8) * shared + math.sqrt(0.2) * own) + [[shift], [0]])
    trials, hits, laws = 4000, 0, {}
    for _ in range(trials):
        items = chances[:, rng.integers(0, 2000, n)]
        d = np.diff(rng.binomial(answers, items), axis=0)[0]
        sizes = np.bincount(np.abs(d), minlength=answers + 1)[1:]
        total, observed = int(sizes @ np.arange(1, answers + 1)), abs(int(d.sum()))
        # The law given the sizes, by convolution.
        key = tuple(sizes.tolist())
        if key not in laws:
            law = np.ones(1)
            for size, times in enumerate(key, 1):
                part = np.zeros(size * times + 1)
                part[::size] = [math.comb(times, k) / 2**times for k in range(times + 1)]
                law = np.convolve(law, part)
            laws[key] = law[::-1].cumsum()[::-1]
        upper = (total + observed) // 2
        hits += 2 * laws[key][upper] <= 0.05 + 1e-12 if observed else 0
    found = sigstats.paired_power(n, accuracy_a=chances[0], accuracy_b=chances[1], answers=answers)
    assert found == pytest.approx(hits / trials, abs=4.5 * math.sqrt(found * (1 - found) / trials) + 0.001)


@pytest.mark.long
def test_so_many_items_reach_the_power_and_one_fewer_does_not():
    options = {"only_a": 0.3, "only_b": 0.1, "answers": 3, "correlation": 0.2}
    n = sigstats.paired_sample_size(**options)
    assert sigstats.paired_power(n, **options) >= 0.8 > sigstats.paired_power(n - 1, **options)
    assert n < sigstats.paired_sample_size(only_a=0.3, only_b=0.1)
    assert all(sigstats.paired_power(n + more, **options) >= 0.8 for more in range(5))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"only_a": 0.2, "only_b": 0.1, "answers": 3}, r"correlation: is missing; expected a number from 0 to 1"),
        ({"only_a": 0.2, "only_b": 0.1, "answers": 3, "correlation": 1.5}, r"correlation: 1\.5 is not valid"),
        ({"only_a": 0.2, "only_b": 0.1, "answers": 0}, r"answers: 0 is not valid"),
        ({"only_a": 0.2, "only_b": 0.1, "answers": 3, "correlation": 0, "method": "mid-p"}, r"method: 'mid-p' is not"),
        ({"accuracy_a": [0.2], "accuracy_b": [0.1], "correlation": 0.5}, r"correlation: 0\.5 is not valid"),
        ({"accuracy_a": [0.2], "accuracy_b": [0.1, 0.2]}, r"accuracy_b: the length is 2; expected 1"),
        ({"accuracy_a": [0.2], "accuracy_b": [1.2]}, r"accuracy_b: 1\.2 is not valid; expected numbers from 0 to 1"),
        ({"accuracy_a": [0.2], "accuracy_b": [0.1], "discordance": 0.2}, r"discordance: 0\.2 is not valid"),
    ],
)
def test_bad_input_is_one_line(options, message):
    with pytest.raises(ValueError, match=message):
        sigstats.paired_power(20, **options)


def test_two_that_do_not_differ_need_no_number_of_items():
    with pytest.raises(ValueError, match="two that differ"):
        sigstats.paired_sample_size(only_a=0.1, only_b=0.1, answers=2, correlation=0.1)
    with pytest.raises(ValueError, match="B the more accurate"):
        sigstats.paired_sample_size(only_a=0.2, only_b=0.1, answers=2, correlation=0.1, alternative="less")
