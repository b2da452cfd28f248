"""Draws that a process keeps for the next classifier are those that the generators of the lanes give."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from sigstats.learners import build
from sigstats.retraining import retrainer
from sigstats.retraining.folds import stratified_folds
from sigstats.tasks.record import record
from sigstats.tasks.replicates import _retrainers, cell
from sigstats.tasks.work import WORK

X, y = load_iris(return_X_y=True)
FOLDS = stratified_folds(y, 3, rng=1)


def block_of(null, *, seed=1, lanes=(0, 3), **code):
    work = {
        "dataset": {"name": "iris", "digest": "0" * 64},
        "classifier": {"learner": "1-nn", "params": {}, **code},
        "cross_validation": {"folds": 3, "seed": 1},
        "null": null,
    }
    made = cell("retrain", subject={}, work=record(WORK["retrain"], work), seed=seed, replicates=25)
    return made.block(*lanes)


def classifier(learner, null):
    return retrainer.Retrainer(build(learner), X, y, FOLDS, null=null)


def drawn(block, null):
    """The draws of the lanes from their generators."""
    model = classifier("1-nn", null)
    return np.concatenate([model.draw(rng, size) for rng, size in block.lanes()])


@pytest.fixture(autouse=True)
def _none_kept():
    _retrainers._draws.clear()


@pytest.mark.parametrize("null", ["labels", "features"])
def test_the_next_classifier_is_given_the_same_draws_without_drawing(monkeypatch, null):
    expected = drawn(block_of(null), null)
    first = list(_retrainers.draws_of(block_of(null, lanes=(1, 3)), classifier("1-nn", null)))
    assert np.array_equal(np.concatenate(first), expected[10:])
    list(_retrainers.draws_of(block_of(null, lanes=(0, 1)), classifier("1-nn", null)))
    monkeypatch.delattr(retrainer.Retrainer, "draw")
    again = list(_retrainers.draws_of(block_of(null), classifier("naive-bayes", null)))
    assert np.array_equal(np.concatenate(again), expected)
    assert again[0].dtype == expected.dtype
    monkeypatch.setattr(retrainer, "CHUNK_BYTES", 1)  # one replicate at a time
    pieces = list(_retrainers.draws_of(block_of(null), classifier("lda", null)))
    assert len(pieces) == 25
    assert np.array_equal(np.concatenate(pieces), expected)


def test_each_seed_and_null_has_draws_of_its_own():
    for null in ("labels", "features"):
        for seed in (1, 2):
            found = list(_retrainers.draws_of(block_of(null, seed=seed), classifier("1-nn", null)))
            assert np.array_equal(np.concatenate(found), drawn(block_of(null, seed=seed), null))


def test_what_is_changed_by_a_classifier_is_not_what_the_next_is_given():
    for _ in range(2):
        for draws in _retrainers.draws_of(block_of("labels"), classifier("1-nn", "labels")):
            draws[:] = 0
    found = list(_retrainers.draws_of(block_of("labels"), classifier("1-nn", "labels")))
    assert np.array_equal(np.concatenate(found), drawn(block_of("labels"), "labels"))


def test_of_more_draws_than_fit_the_first_lanes_are_kept(monkeypatch):
    monkeypatch.setattr(_retrainers, "_MOST_BYTES", 2 * 10 * 150)  # two lanes of ten permutations of 150 rows
    for _ in range(2):
        found = list(_retrainers.draws_of(block_of("labels"), classifier("1-nn", "labels")))
        assert np.array_equal(np.concatenate(found), drawn(block_of("labels"), "labels"))
    assert len(_retrainers._draws) == 2
    _retrainers._draws.clear()
    monkeypatch.setattr(retrainer, "CHUNK_BYTES", 1)  # a lane that does not fit in memory
    found = list(_retrainers.draws_of(block_of("labels"), classifier("1-nn", "labels")))
    assert np.array_equal(np.concatenate(found), drawn(block_of("labels"), "labels"))
    assert not _retrainers._draws


def test_draws_are_not_kept_beside_code_of_another_package():
    block = block_of("labels", code={"package": "other", "version": "1"})
    found = list(_retrainers.draws_of(block, classifier("1-nn", "labels")))
    assert np.array_equal(np.concatenate(found), drawn(block_of("labels"), "labels"))
    assert not _retrainers._draws
