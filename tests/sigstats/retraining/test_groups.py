"""Groups of rows: folds beside scikit-learn's, draws by enumeration, level by simulation."""

import re
from collections import Counter
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom
from sklearn.model_selection import GroupKFold, StratifiedGroupKFold
from sklearn.naive_bayes import GaussianNB

import sigstats
from sigstats._common.class_names import as_groups
from sigstats.retraining.folds import (
    LabelExchange,
    folds_of,
    leave_one_out_folds,
    note_on_few_arrangements,
    rows_to_permute,
    stratified_folds,
)
from sigstats.retraining.retrainer import Retrainer

from ...examples import examples


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 7)), min_size=12, max_size=60), st.integers(0, 99))
def test_folds_are_those_of_scikit_learn_and_split_no_group(rows, seed):
    y, groups = (np.array(column) for column in zip(*rows, strict=True))
    try:
        folds = stratified_folds(y, 3, seed, groups=as_groups(groups, "groups", len(y))[0])
    except ValueError as error:
        assert re.match(r"n_splits: |y: the number|groups: ", str(error))
        return
    drawn = int(np.random.default_rng(seed).integers(2**32))
    splitter = StratifiedGroupKFold(3, shuffle=True, random_state=drawn)
    assert (folds == folds_of(splitter, y[:, None], y, groups)).all()
    assert all(len(set(folds[groups == group])) == 1 for group in set(groups.tolist()))


def test_labels_of_mixed_groups_are_exchanged_inside_each_evenly():
    y, groups = np.array([0, 1, 1, 0, 1]), np.array([0, 1, 0, 1, 1])
    draws = LabelExchange(y, groups).draw(np.random.default_rng(1), 12_000)
    found = Counter(map(tuple, draws.tolist()))
    expected = {(a[0], b[0], a[1], b[1], b[2]) for a, b in product(permutations([0, 2]), permutations([1, 3, 4]))}
    assert set(found) == expected
    # 12 arrangements of 1,000 each; a chance of 1e-6 that one is beyond, over 12
    least, most = binom.ppf([0.5e-6 / 12, 1 - 0.5e-6 / 12], 12_000, 1 / 12)
    assert all(least <= count <= most for count in found.values())


def test_groups_of_one_class_are_exchanged_whole_among_those_of_their_size():
    y, groups = np.array([0, 1, 0, 1, 0, 1]), np.array([0, 1, 0, 1, 2, 3])
    draws = LabelExchange(y, groups).draw(np.random.default_rng(1), 4_000)
    found = Counter(map(tuple, draws.tolist()))
    assert set(found) == {(0, 1, 2, 3, 4, 5), (1, 0, 3, 2, 4, 5), (0, 1, 2, 3, 5, 4), (1, 0, 3, 2, 5, 4)}
    least, most = binom.ppf([0.5e-6 / 4, 1 - 0.5e-6 / 4], 4_000, 1 / 4)
    assert all(least <= count <= most for count in found.values())


@pytest.mark.long
@pytest.mark.parametrize("null", ["labels", "features"])
@pytest.mark.parametrize(
    ("y", "groups", "folds"),
    [
        ([0, 1, 0, 1, 0, 1], [0, 1, 0, 1, 2, 3], [0, 1, 0, 1, 0, 1]),  # groups move as a whole
        ([0, 0, 1, 1, 0, 1, 0], [0, 0, 0, 0, 1, 1, 1], [0, 0, 0, 0, 1, 1, 1]),  # rows move inside groups
        ([0, 0, 1, 1, 1], None, [0, 1, 0, 1, 1]),
    ],
)
def test_the_smallest_p_is_that_of_all_distinct_arrangements(null, y, groups, folds):
    # all permutations that the seeded draws reach; distinct values of the features in each fold and class
    y, folds, values = np.array(y), np.array(folds), np.arange(2 * len(y)).reshape(2, -1)
    given = None if groups is None else np.array(groups)
    retrainer = Retrainer(GaussianNB(), values.T, y, folds, null=null, groups=given)
    seen = set()
    for draw in retrainer.draw(np.random.default_rng(1), 20_000):
        if null == "labels":
            seen.add((tuple(y[draw]), tuple(folds[draw])))
        else:
            moved = np.take_along_axis(values, draw, axis=1)
            seen.add(frozenset(zip(y.tolist(), folds.tolist(), *moved.tolist(), strict=True)))
    few = note_on_few_arrangements(y, given, folds, null, features=2, needed=len(seen) + 1)
    assert few.endswith(f"so p is not below {1 / len(seen):.2g}")
    assert f"only {len(seen)} arrangements of the {null}" in few
    assert not note_on_few_arrangements(y, given, folds, null, features=2, needed=len(seen))


def test_what_cannot_be_exchanged_is_refused():
    with pytest.raises(ValueError, match="two groups of equally many rows and different classes"):
        LabelExchange(np.array([0, 0, 1]), np.array([0, 0, 1]))
    with pytest.raises(ValueError, match="nothing can be permuted"):
        rows_to_permute(np.array([0, 1, 0, 1]), np.array([0, 0, 1, 1]))
    X, y = np.zeros((4, 2)), [0, 1, 0, 1]
    with pytest.raises(ValueError, match=r"cv \(row 1\): 1 is not valid; expected all rows of a group in one fold"):
        sigstats.permutation_test("1-nn", X, y, cv=[0, 1, 0, 1], groups=[0, 0, 1, 1], n_resamples=1)
    with pytest.raises(ValueError, match="at most 2, the number of groups"):
        sigstats.permutation_test("1-nn", X, y, cv=3, groups=[0, 0, 1, 1], n_resamples=1)
    for wrong in ([0, 1], [0, 0, 0, 0], [np.nan, 1, 2, 3], [None, 1, 2, 3], ["NA", "1", "2", "3"], "abcd"):
        with pytest.raises(ValueError, match=r"^groups: "):
            as_groups(wrong, "groups", 4)


def test_features_are_permuted_inside_each_group_and_class():
    y, groups = np.array([0, 0, 0, 1, 1, 0]), np.array([0, 0, 1, 1, 1, 1])
    assert [rows.tolist() for rows in rows_to_permute(y, groups)] == [[0, 1], [2, 5], [3, 4]]
    retrainer = Retrainer(GaussianNB(), np.zeros((6, 2)), y, groups, null="features", groups=groups)
    draws = retrainer.draw(np.random.default_rng(3), 200)
    pairs = {tuple(each) for each in draws.reshape(-1, 6).tolist()}
    assert pairs == {(*a, b[0], *c, b[1]) for a, b, c in product(*(permutations(p) for p in ([0, 1], [2, 5], [3, 4])))}


def test_leaving_out_a_group_at_a_time():
    groups = np.array([0, 1, 1, 2, 2])
    assert leave_one_out_folds([0, 1, 0, 1, 0], groups).tolist() == groups.tolist()
    with pytest.raises(ValueError, match="all rows of class 1 are in one fold"):
        leave_one_out_folds([0, 1, 1, 0, 0], groups)


@pytest.mark.long
@pytest.mark.parametrize("of_one_class", [True, False])
def test_the_level_is_kept_where_rows_of_a_group_are_alike(of_one_class):
    """20 groups of 4 all but equal rows: without groups a label of its own in each group is found again and again."""
    rng = np.random.default_rng(7)
    worlds, rejected = 150, 0
    groups = np.repeat(np.arange(20), 4)
    for _ in range(worlds):
        X = rng.normal(size=(20, 2))[groups] + rng.normal(scale=0.1, size=(80, 2))
        y = rng.permutation(np.arange(20) % 2)[groups] if of_one_class else rng.permutation(np.arange(80) % 2)
        found = sigstats.permutation_test("1-nn", X, y, cv=GroupKFold(4), groups=groups, n_resamples=19, rng=rng)
        rejected += found.pvalue <= 0.1
    # p is at most 0.1 with probability 0.1 or less; a chance of 1e-6 of more
    assert rejected <= binom.ppf(1 - 1e-6, worlds, 0.1)
