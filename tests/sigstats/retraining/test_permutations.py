"""Permutations by compiled code, against `numpy.random.Generator.permuted`."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sigstats.retraining import permutations as module
from sigstats.retraining.permutations import permutations

from ...examples import examples

KINDS = (np.random.PCG64, np.random.PCG64DXSM, np.random.Philox, np.random.SFC64, np.random.MT19937)


def by_numpy(generator, runs, shape):
    made = np.tile(np.arange(shape[2]), (*shape[:2], 1))
    for rows in made:
        for run in runs:
            rows[:, run] = generator.permuted(np.tile(run, (shape[1], 1)), axis=1)
    return made


@settings(max_examples=examples(60), deadline=None)
@given(
    kind=st.sampled_from(KINDS),
    seed=st.integers(0, 2**32),
    sizes=st.lists(st.integers(1, 40), min_size=1, max_size=5),
    sets=st.integers(0, 4),
    rows=st.integers(1, 5),
    before=st.integers(0, 3),
)
def test_the_same_permutations_and_the_same_stream_after_them(kind, seed, sizes, sets, rows, before):
    pytest.importorskip("numba")
    ours, theirs = (np.random.Generator(kind(seed)) for _ in range(2))
    for generator in (ours, theirs):
        generator.integers(2**32, size=before, dtype=np.uint32)  # of an odd number of words one is kept
    order = np.random.default_rng(seed).permutation(sum(sizes) + 3)
    runs, shape = np.split(order, np.cumsum(sizes))[:-1], (sets, rows, len(order))
    assert (permutations(ours, runs, shape) == by_numpy(theirs, runs, shape)).all()
    for _ in range(3):
        assert ours.integers(2**32, dtype=np.uint32) == theirs.integers(2**32, dtype=np.uint32)


def test_many_rows_take_the_words_of_several_reads():
    pytest.importorskip("numba")
    runs, shape = [np.arange(700), np.arange(700, 1000)], (3, 4, 1000)
    ours, theirs = np.random.default_rng(3), np.random.default_rng(3)
    assert (permutations(ours, runs, shape) == by_numpy(theirs, runs, shape)).all()
    assert ours.random() == theirs.random()


def test_numpys_own_where_the_installed_one_shuffles_otherwise(monkeypatch):
    monkeypatch.setattr(module, "_is_as_numpy", lambda kind: False)
    monkeypatch.setattr(module, "_compiled", None)
    runs, shape = [np.arange(30)], (2, 1, 30)
    ours, theirs = np.random.default_rng(3), np.random.default_rng(3)
    assert (permutations(ours, runs, shape) == by_numpy(theirs, runs, shape)).all()
