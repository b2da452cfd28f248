"""What a worker keeps from one block to the next."""

from hypothesis import given
from hypothesis import strategies as st

from sigstats.tasks.storage.worker_cache import Kept

SIZES = {"a": 1, "b": 2, "c": 3, "d": 5, "e": 8, "huge": 50}


@given(st.lists(st.sampled_from(sorted(SIZES)), max_size=40))
def test_what_is_kept_fits_but_for_the_one_used_last(asked):
    made = []
    kept = Kept(nbytes=SIZES.__getitem__, most_bytes=10, most_values=3)
    for position, name in enumerate(asked):
        before = len(made)
        assert kept.get(name, lambda name=name: made.append(name) or name) == name
        if position and asked[position - 1] == name:
            assert len(made) == before  # the last one is there, however large
        assert kept.nbytes_kept <= max(10, SIZES[name])


def test_what_is_too_large_goes_before_the_next_is_made():
    """Two data sets that a worker can hold one at a time are never there together."""
    kept = Kept(nbytes=len, most_bytes=10)
    seen = []
    for letter in "abab":
        kept.get(letter, lambda letter=letter: seen.append(kept.nbytes_kept) or 100 * letter)
    assert seen == [0, 0, 0, 0]


def test_those_used_last_stay():
    kept = Kept(nbytes=lambda _: 1, most_values=2)
    made = []
    for letter in "abacab":
        kept.get(letter, lambda letter=letter: made.append(letter) or letter)
    assert made == ["a", "b", "c", "b"]
