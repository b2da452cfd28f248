import contextlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneOut,
    PredefinedSplit,
    RepeatedKFold,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
)

from sigstats.retraining.folds import as_folds, folds_of, stratified_folds

labels = st.lists(st.integers(0, 3), min_size=4, max_size=60)


@settings(deadline=None, derandomize=True)
@given(labels, st.integers(2, 6), st.integers(0, 99))
def test_each_class_and_all_rows_are_spread_evenly(y, n_splits, seed):
    rows = np.bincount(y)
    rows = rows[rows > 0]
    if len(rows) < 2 or rows.min() < n_splits:
        with pytest.raises(ValueError):
            stratified_folds(y, n_splits, seed)
        return
    folds = stratified_folds(y, n_splits, seed)
    assert folds.dtype == np.int64
    assert set(folds) == set(range(n_splits))
    for code in set(y):
        assert np.ptp(np.bincount(folds[np.array(y) == code], minlength=n_splits)) <= 1
    assert np.ptp(np.bincount(folds)) <= len(rows)
    assert (folds == stratified_folds(y, n_splits, seed)).all()


@pytest.mark.long
def test_rows_of_a_class_are_shuffled_between_folds():
    # Under a fixed seed, 3000 draws: each row of a class of 4 is in each of 2 folds half the time (binomial, 6 sd).
    rng = np.random.default_rng(1)
    draws = np.array([stratified_folds([0] * 4 + [1] * 4, 2, rng) for _ in range(3000)])
    assert (np.abs(draws.mean(axis=0) - 0.5) < 6 * 0.5 / np.sqrt(3000)).all()


def test_the_class_that_is_too_rare_is_named():
    with pytest.raises(ValueError, match=r"n_splits: 10 .* at most 3, the number of rows of class 'rare'"):
        stratified_folds(["often"] * 20 + ["rare"] * 3, 10)
    with pytest.raises(ValueError, match="the number of classes is 1; expected two or more"):
        stratified_folds([1] * 20, 2)


@pytest.mark.parametrize(
    "splitter",
    [KFold(3), StratifiedKFold(3, shuffle=True, random_state=1), LeaveOneOut(), PredefinedSplit([0, 1, 2] * 4)],
)
def test_a_splitter_and_its_array_hold_the_same_folds(splitter):
    X, y = np.zeros((12, 1)), np.array([0, 1] * 6)
    folds = folds_of(splitter, X, y)
    for number, (train, test) in enumerate(splitter.split(X, y)):
        assert np.array_equal(np.flatnonzero(folds == number), np.sort(test))
        assert np.array_equal(np.flatnonzero(folds != number), np.sort(train))
    assert np.array_equal(as_folds(splitter, X, y), folds)


def test_a_group_splitter_gets_its_groups():
    groups = np.repeat([0, 1, 2, 3], 3)
    folds = folds_of(GroupKFold(2), np.zeros((12, 1)), [0, 1] * 6, groups)
    assert all(len(set(folds[groups == group])) == 1 for group in range(4))


@pytest.mark.parametrize("splitter", [ShuffleSplit(3, random_state=1), RepeatedKFold(n_splits=2), TimeSeriesSplit(3)])
def test_a_splitter_that_tests_a_row_twice_or_never_is_refused(splitter):
    with pytest.raises(ValueError, match="exactly once"):
        as_folds(splitter, np.zeros((12, 1)), [0, 1] * 6)


def test_an_array_is_renumbered_in_order():
    assert as_folds([20, -5, 20, 7], None, [0, 1, 0, 1]).tolist() == [2, 0, 2, 1]


def test_rare_classes_are_spread_where_they_are_allowed():
    y = ["often"] * 37 + ["rare"] * 3 + ["once"]
    folds = stratified_folds(y, 10, 4, rare_classes="allow")
    assert np.bincount(folds[:37], minlength=10).min() >= 3
    assert np.bincount(folds[37:40], minlength=10).max() == 1
    assert np.bincount(folds).max() - np.bincount(folds).min() <= 2
    with pytest.raises(ValueError, match="at most 3, the number of rows of class 1"):
        stratified_folds([0, 0, 1, 1, 1], 4, rare_classes="allow")
    with pytest.raises(ValueError, match="rare_classes: 'maybe' is not valid"):
        stratified_folds(y, 3, rare_classes="maybe")


@pytest.mark.parametrize("splitter", [KFold(3), StratifiedKFold(4, shuffle=True, random_state=1), LeaveOneOut()])
@pytest.mark.parametrize("form", [list, tuple, iter, lambda splits: [list(split) for split in splits]])
def test_the_splits_of_a_splitter_mean_what_it_means(splitter, form):
    X, y = np.zeros((12, 1)), np.array([0, 1] * 6)
    assert np.array_equal(as_folds(form(splitter.split(X, y)), X, y), as_folds(splitter, X, y))


def test_splits_may_be_masks_of_all_rows():
    test = np.array([True, False, True, False])
    assert as_folds([(~test, test), (test, ~test)], None, [0, 0, 1, 1]).tolist() == [0, 1, 0, 1]


def endless():
    while True:
        yield [2, 3], [0, 1]


@pytest.mark.parametrize(
    ("cv", "message"),
    [
        ([([2, 3], [0, 1]), ([0, 1], [2, 3]), ([1, 2, 3], [0])], r"^cv \(split 2\): .*row 0 .*split 0.*exactly once"),
        ([([2, 3], [0, 1]), ([0, 1, 3], [2])], "^cv: .*row 3 in none of 2 test sets.*exactly once"),
        ([([2], [0, 1]), ([0, 1], [2, 3])], r"^cv \(split 0\): .*row 3 in neither set.*train on all others"),
        ([([1, 2, 3], [0, 1]), ([0, 1], [2, 3])], r"^cv \(split 0\): .*row 1 twice"),
        ([([2, 3], [0, 1]), ([0, 1], [2, 4])], r"^cv \(split 1\): 4 is not valid; .*0 to 3"),
        ([([2, 3], [0, -1])], r"^cv \(split 0\): -1 is not valid"),
        ([([2, 3], [0, 1.5])], r"^cv \(split 0\): "),
        ([([], [0, 1, 2, 3])], "two folds or more"),
        ([([2, 3], [0, 1], [1])], r"^cv \(split 0\): .*a pair"),
        ([([2, 3], [0, 1]), 7], r"^cv \(split 1\): 7 is not valid; .*a pair"),
        (endless(), r"^cv \(split 1\): .*row 0"),
        ([], "^cv: "),
    ],
)
def test_splits_that_do_not_share_the_rows_out_are_refused(cv, message):
    with pytest.raises(ValueError, match=message) as refused:
        as_folds(cv, np.zeros((4, 1)), [0, 1, 0, 1])
    assert "\n" not in str(refused.value)


def test_a_generator_that_fails_is_refused():
    with pytest.raises(ValueError, match=r"^cv: generator failed to split: .*zero"):
        as_folds((([1 // row], [row]) for row in range(4)), np.zeros((4, 1)), [0, 1, 0, 1])


@settings(deadline=None, derandomize=True)
@given(st.lists(st.tuples(st.lists(st.integers(-2, 5)), st.lists(st.integers(-2, 5))), max_size=4))
def test_any_splits_are_refused_or_share_the_rows_out(cv):
    with contextlib.suppress(ValueError):
        folds = as_folds(cv, np.zeros((4, 1)), [0, 1, 0, 1])
        for number, (train, test) in enumerate(cv):
            assert sorted(test) == np.flatnonzero(folds == number).tolist()
            assert sorted(train) == np.flatnonzero(folds != number).tolist()
