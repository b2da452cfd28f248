"""Permutations from compiled code against NumPy's own."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.naive_bayes import GaussianNB

from sigstats.learners.door import compiled
from sigstats.retraining.folds import permutations
from sigstats.retraining.permutation import Retrainer

pytestmark = pytest.mark.skipif(compiled("permutations") is None, reason="compiled code needs Numba")


def advanced(kind, seed, drawn):
    generator = np.random.Generator(kind(seed))
    generator.integers(2**31, size=drawn, dtype=np.int32)  # each takes half of a word
    return generator


KINDS = np.random.PCG64, np.random.Philox


@given(
    st.sampled_from(KINDS),
    st.integers(0, 2**32),
    st.integers(0, 9),
    st.lists(st.integers(1, 70), min_size=1, max_size=4),
    st.tuples(st.integers(1, 3), st.integers(1, 3)),
)
def test_numbers_and_the_state_of_the_generator_are_those_of_numpy(kind, seed, drawn, sizes, shape):
    ends = np.cumsum(sizes)
    runs = [np.arange(end - size, end) * 2 for size, end in zip(sizes, ends, strict=True)]
    shape = (*shape, 2 * int(ends[-1]))  # odd numbers are in no run
    ours, theirs = (advanced(kind, seed, drawn) for _ in range(2))
    made = compiled("permutations").permutations(ours, runs, shape)
    assert np.array_equal(made, permutations(theirs, runs, shape))
    for next_number in (lambda each: each.integers(2**31, dtype=np.int32), lambda each: each.random()):
        assert next_number(ours) == next_number(theirs)


@pytest.mark.parametrize("counter", [2**64 - 2, 2**128 - 1, 2**192 - 3, 2**256 - 2])
def test_the_counter_carries(counter):
    runs, shape = [np.arange(40)], (1, 1, 40)
    ours, theirs = (np.random.Generator(np.random.Philox(key=5, counter=counter)) for _ in range(2))
    made = compiled("permutations").permutations(ours, runs, shape)
    assert np.array_equal(made, permutations(theirs, runs, shape))
    assert ours.random() == theirs.random()


def test_other_generators_are_left_as_they_are():
    ours, untouched = (np.random.Generator(np.random.SFC64(1)) for _ in range(2))
    assert compiled("permutations").permutations(ours, [np.arange(9)], (1, 1, 9)) is None
    assert ours.random() == untouched.random()


@pytest.mark.parametrize("kind", KINDS)
def test_retrainers_of_many_rows_draw_what_numpy_does(kind):
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(800, 30)), np.arange(800) % 3
    drawn = Retrainer(GaussianNB(), X, y, np.arange(800) % 4, null="features").draw(advanced(kind, 3, 1), 4)
    classes = [np.flatnonzero(y == own) for own in range(3)]
    assert np.array_equal(drawn, permutations(advanced(kind, 3, 1), classes, (4, 30, 800)))
