"""The bounds of the cache of a worker."""

import threading

from cachetools import cached
from hypothesis import given
from hypothesis import strategies as st

from sigstats.tasks.storage.data import WorkerCache

SIZES = {"a": 1, "b": 2, "c": 3, "d": 5, "e": 8, "huge": 50}


@given(st.lists(st.sampled_from(sorted(SIZES)), max_size=40))
def test_the_values_fit_but_for_the_one_used_last(names):
    made = []
    cache = WorkerCache(SIZES.__getitem__, most_bytes=10, most_values=3)
    get = cached(cache, lock=threading.Lock())(lambda name: made.append(name) or name)
    for position, name in enumerate(names):
        before = len(made)
        assert get(name) == name
        if position and names[position - 1] == name:
            assert len(made) == before  # the last one is there, however large
        assert sum(SIZES[value] for value in cache.values()) <= max(10, SIZES[name])
        assert len(cache) <= 3


def test_a_value_that_is_too_large_leaves_before_the_next_is_made():
    """Two data sets that a worker can hold one at a time are never there together."""
    cache = WorkerCache(len, most_bytes=10)
    present = []
    get = cached(cache, lock=threading.Lock())(lambda letter: present.append(len(cache)) or 100 * letter)
    for letter in "abab":
        get(letter)
    assert present == [0, 0, 0, 0]


def test_the_values_used_last_stay():
    made = []
    get = cached(WorkerCache(lambda _: 1, most_values=2))(lambda letter: made.append(letter) or letter)
    for letter in "abacab":
        get(letter)
    assert made == ["a", "b", "c", "b"]


def test_the_bound_in_bytes_removes_the_value_used_longest_ago():
    made = []
    get = cached(WorkerCache(len, most_bytes=6))(lambda letter: made.append(letter) or 3 * letter)
    for letter in "abacb":
        get(letter)
    assert made == ["a", "b", "c", "b"]
