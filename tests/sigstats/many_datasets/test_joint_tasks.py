"""One decision over several tasks: enumeration in rationals, and McNemar's test where there is one task."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sigstats import joint_tasks_test, mcnemar_test, stratified_paired_test

task = st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(1, 30))
cells_of_tasks = st.lists(task, min_size=1, max_size=4)


def split(cells):
    a, b, _rest = zip(*cells, strict=True)
    return a, b, [sum(each) for each in cells]


def tail(k, n):
    return Fraction(sum(math.comb(n, i) for i in range(k, n + 1)), 2**n)


def outcomes(discordant):
    """Every number of rows that A got right of each task, with its probability if none is better."""
    for counts in itertools.product(*(range(m + 1) for m in discordant)):
        ways = math.prod(math.comb(m, k) for k, m in zip(counts, discordant, strict=True))
        yield counts, Fraction(ways, 2 ** sum(discordant))


def chance_of_any(discordant, p):
    """That the smallest p-value of these tasks is at most p."""
    return sum(
        (
            chance
            for counts, chance in outcomes(discordant)
            if min(tail(k, m) for k, m in zip(counts, discordant, strict=True)) <= p
        ),
        Fraction(0),
    )


@pytest.mark.long
@settings(deadline=None)
@given(cells_of_tasks)
def test_questions_about_tasks_as_enumerated(cells):
    a, b, n = split(cells)
    discordant = [x + y for x, y in zip(a, b, strict=True)]
    found = joint_tasks_test(a, b, n, n_resamples=1, rng=1)
    own = [tail(k, m) for k, m in zip(a, discordant, strict=True)]
    assert found.any_task == pytest.approx(float(chance_of_any(discordant, min(own))), rel=1e-12)
    assert found.every_task == pytest.approx(float(max(own)), rel=1e-12)
    assert found.all_rows == mcnemar_test(sum(a), sum(b), alternative="greater").pvalue
    assert found.mean_over_tasks == stratified_paired_test(a, b, n, alternative="greater").pvalue
    order, largest = sorted(range(len(own)), key=own.__getitem__), Fraction(0)
    for step, place in enumerate(order):  # those that are left, if all before were rejected
        largest = max(largest, chance_of_any([discordant[other] for other in order[step:]], own[place]), own[place])
        assert found.tasks[place] == pytest.approx(float(largest), rel=1e-12)


def by_enumeration(a, b, n):
    """The joint p-value, of all outcomes in place of random ones."""
    discordant = [x + y for x, y in zip(a, b, strict=True)]

    def parts(counts):
        smallest = min(tail(k, m) for k, m in zip(counts, discordant, strict=True))
        return sum(counts), sum(Fraction(k, size) for k, size in zip(counts, n, strict=True)), -smallest

    chances = dict(outcomes(discordant))
    values = {counts: parts(counts) for counts in chances}
    ranked = [
        {value: sum(c for counts, c in chances.items() if values[counts][part] >= value) for value in
         {each[part] for each in values.values()}}
        for part in range(3)
    ]  # fmt: skip
    joint = {counts: min(ranked[part][values[counts][part]] for part in range(3)) for counts in chances}
    observed = joint[tuple(a)]
    return float(sum(chance for counts, chance in chances.items() if joint[counts] <= observed))


@pytest.mark.parametrize(
    ("a", "b", "n"),
    [
        ([7, 3, 2], [2, 2, 2], [100, 20, 10]),
        ([4, 5, 0], [0, 4, 3], [30, 30, 200]),
        ([6, 2], [1, 1], [50, 5]),
        ([2, 6, 1], [4, 1, 3], [20, 90, 15]),
    ],
)
def test_the_joint_decision_as_enumerated(a, b, n):
    draws = 40_000
    found = joint_tasks_test(a, b, n, n_resamples=draws, rng=3)
    p = by_enumeration(a, b, n)
    # Ranks among the draws stand for exact chances: six standard errors of each, and of the p-value itself.
    assert found.pvalue == pytest.approx(p, abs=12 * math.sqrt(p * (1 - p) / draws))
    assert joint_tasks_test(b, a, n, alternative="less", n_resamples=draws, rng=3).pvalue == found.pvalue


@pytest.mark.long
def test_level_where_some_tasks_gain():
    """A is worse on one task and equal on the others, so that no task is better: at most the level."""
    rng, trials, rejected, named = np.random.default_rng(1), 400, 0, 0
    n, share = np.array([40, 60, 90]), np.array([0.5, 0.5, 0.3])
    for _ in range(trials):
        discordant = rng.binomial(n, 0.3)
        a = rng.binomial(discordant, share)
        found = joint_tasks_test(a, discordant - a, n, n_resamples=199, rng=rng)
        rejected += found.pvalue <= 0.05
        named += min(found.tasks) <= 0.05
    assert rejected <= 0.05 * trials + 6 * math.sqrt(0.05 * 0.95 * trials)
    assert named <= 0.05 * trials + 6 * math.sqrt(0.05 * 0.95 * trials)


def test_without_discordant_rows_every_p_is_1():
    found = joint_tasks_test([0, 0], [0, 0], [5, 9], rng=0)
    assert (found.pvalue, found.all_rows, found.mean_over_tasks, found.any_task, found.every_task) == (1,) * 5
    assert found.tasks == (1, 1)


def test_tasks_of_very_unequal_counts_stay_in_range():
    found = joint_tasks_test([300_000, 0, 1], [100_000, 3, 0], [900_000, 10, 5], n_resamples=99, rng=0)
    assert found.pvalue <= 0.03  # the largest of the draws in rows, mean or any task is tied with it
    assert found.tasks[0] < 1e-300
    assert found.tasks[1:] == pytest.approx([1, 0.75])
