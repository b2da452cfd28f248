"""Draws that all classifiers share, and the retrainers that the threads of a process are lent, change nothing."""

import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np
import pytest
from sklearn.datasets import load_iris

from sigstats.learners import build
from sigstats.retraining import retrainer
from sigstats.retraining.folds import stratified_folds
from sigstats.tasks.benchmark import work as retrainers
from sigstats.tasks.benchmark.work import Retrained
from sigstats.tasks.datasets.dataset import Dataset
from sigstats.tasks.engine.blocks import Failure, run_block
from sigstats.tasks.fan_out import cell_of
from sigstats.tasks.record import record
from sigstats.tasks.storage.data import write_data
from sigstats.tasks.storage.store import Store

X, y = load_iris(return_X_y=True)
FOLDS = stratified_folds(y, 3, rng=1)


def block_of(null, *, seed=1, lanes=(0, 3), digest="0" * 64, learner="1-nn", **code):
    work = {
        "dataset": {"name": "iris", "digest": digest},
        "classifier": {"learner": learner, "params": {}, **code},
        "cross_validation": {"folds": 3, "seed": 1},
        "null": null,
    }
    made = cell_of("retrain", subject={}, work=record(Retrained, work), seed=seed, replicates=25)
    return made.block(*lanes)


def classifier(learner, null):
    return retrainer.Retrainer(build(learner), X, y, FOLDS, null=null)


def drawn(block, null):
    """The draws of the lanes from their generators."""
    model = classifier("1-nn", null)
    return np.concatenate([model.draw(rng, size) for rng, size in block.lanes()])


@pytest.mark.parametrize("null", ["labels", "features"])
def test_each_classifier_is_given_the_same_draws_however_they_are_cut(monkeypatch, null):
    expected = drawn(block_of(null), null)
    first = list(retrainers.draws_of(block_of(null, lanes=(1, 3)), classifier("1-nn", null)))
    assert np.array_equal(np.concatenate(first), expected[10:])
    monkeypatch.setattr(retrainer, "CHUNK_BYTES", 1)  # one replicate at a time
    pieces = list(retrainers.draws_of(block_of(null), classifier("lda", null)))
    assert len(pieces) == 25
    assert np.array_equal(np.concatenate(pieces), expected)


LEARNERS = ["1-nn", "naive-bayes", "lda", "decision-tree", "svm", "linear-svm", "logistic-regression"]


def retrains(root, *, threads):
    """The file of each of three blocks of every learner and null, computed by so many threads at the same time."""
    store = Store(str(root))
    data = Dataset("iris", X, np.zeros(4, dtype=bool), y, ("a", "b", "c"), ("w", "x", "y", "z"), ((),) * 4)
    write_data(store, data)
    blocks = [
        block_of(null, lanes=(lane, lane + 1), digest=data.digest(), learner=learner)
        for learner in LEARNERS
        for null in ("labels", "features")
        for lane in range(3)
    ]
    with ThreadPoolExecutor(threads) as executor:
        outcomes = list(executor.map(lambda block: run_block(block, store), blocks))
    assert not [outcome.message for outcome in outcomes if isinstance(outcome, Failure)]
    assert not retrainers._lent
    return {path.relative_to(root): path.read_bytes() for path in sorted(root.rglob("*.parquet"))}


@pytest.mark.long
def test_threads_of_a_process_compute_the_same_files_as_one(tmp_path):
    expected = retrains(tmp_path / "one", threads=1)
    retrainers._idle.clear()
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        assert retrains(tmp_path / "six", threads=6) == expected
    finally:
        sys.setswitchinterval(before)
    assert len(expected) == 1 + 3 * 2 * len(LEARNERS)


def test_each_block_is_lent_a_retrainer_of_its_own_and_the_next_one_takes_it_over(tmp_path):
    store = Store(str(tmp_path))
    data = Dataset("iris", X, np.zeros(4, dtype=bool), y, ("a", "b", "c"), ("w", "x", "y", "z"), ((),) * 4)
    write_data(store, data)
    work = block_of("labels", digest=data.digest()).cell.work
    with retrainers.lent_retrainer(store, work, null="labels") as first:
        with retrainers.lent_retrainer(store, work, null="labels") as second:
            assert first is not second
        with retrainers.lent_retrainer(store, work, null="labels") as third:
            assert third is second
    with retrainers.lent_retrainer(store, work, null="labels") as fourth:
        assert fourth is first


class Undecided:
    """A batched learner that decides no row."""

    replicate_bytes = 0

    def __init__(self, of):
        self.predict_labels = self.predict_features = lambda draws: np.full((len(draws), of.n), -1)


@pytest.mark.long
def test_scikit_learn_s_fits_have_the_process_for_themselves(tmp_path, monkeypatch):
    """A batched learner leaves folds to scikit-learn, here all, whose solvers share a generator between threads."""
    inside, most = [], []
    sound = retrainers.new_retrainer

    def new_retrainer(*given, **options):
        made = sound(*given, **options)
        around = made.around_fit

        @contextmanager
        def watched():
            with around():
                inside.append(made)
                most.append(len(inside))
                yield
                inside.remove(made)

        made.around_fit = watched
        if made.batched:
            made._learner = Undecided(made)
        return made

    monkeypatch.setattr(retrainers, "new_retrainer", new_retrainer)
    retrainers._idle.clear()
    retrains(tmp_path, threads=6)
    retrainers._idle.clear()
    assert len(most) == 2 * len(LEARNERS) * 25 * 3
    assert max(most) == 1
