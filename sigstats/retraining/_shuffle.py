"""Shuffles of many rows by the words of one stream, compiled by Numba."""

import numpy as np

from .._common.compiled import borrowed, compiled, inlined


@compiled
def shuffle_rows(words, members, starts, out, done):  # type: ignore[no-untyped-def]
    """Shuffle rows of `out` from row `done` on, as `numpy.random.Generator.permuted` does, until words are lacking.

    `words`: what the stream gives next.
    `members` and `starts`: the places of a row among which values are exchanged, in runs ``members[starts[s]:starts[s
    + 1]]``. All rows of a set have their first run shuffled before the second.
    `done`: so many runs of rows are done.

    Returns
    -------
    done, used, lacking : int
        What is done now, how many words that took, and how many more the next run takes at least.
    """
    sets, rows, _ = out.shape
    runs = len(starts) - 1
    used = lacking = 0
    longest = np.max(starts[1:] - starts[:-1])
    drawn, shuffled = np.empty(longest, dtype=np.int32), np.empty(longest, dtype=np.int64)
    while done < sets * runs * rows:
        own = done // rows % runs
        places = borrowed(members[starts[own] : starts[own + 1]])
        taken = _draw(borrowed(words[used:]), len(places), borrowed(drawn))
        if taken < 0:
            lacking = -taken
            break
        _exchange(places, borrowed(drawn), borrowed(shuffled), borrowed(out[done // (rows * runs), done % rows]))
        used += taken
        done += 1
    return done, used, lacking


@inlined
def _draw(words, count, drawn):  # type: ignore[no-untyped-def]
    """With which of the first i + 1 values value i is exchanged; the number of words that took, or minus those lacking.

    What is exchanged is not looked at here, as each exchange waits for the one before.
    """
    last, used, mask = count - 1, np.uint64(0), 1
    while mask < last:
        mask = 2 * mask + 1
    while last > 0:
        while last > mask >> 1:
            if used == np.uint64(len(words)):
                return -last
            j = np.int64(words[used]) & mask
            used += np.uint64(1)
            # A number that is too large is left out, without a branch that no processor foresees.
            drawn[np.uint64(last)] = j
            last -= int(j <= last)
        mask >>= 1
    return np.int64(used)


@inlined
def _exchange(places, drawn, shuffled, row):  # type: ignore[no-untyped-def]
    """Exchange the values of `places`, from the last on, and write them there."""
    for i in range(len(places)):
        shuffled[i] = places[i]
    for i in range(len(places) - 1, 0, -1):
        last, other = np.uint64(i), np.uint64(drawn[i])
        value = shuffled[other]
        shuffled[other] = shuffled[last]
        row[np.uint64(places[last])] = value
    if len(places):
        row[np.uint64(places[0])] = shuffled[0]
