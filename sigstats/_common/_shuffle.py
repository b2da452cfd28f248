"""Shuffles of many rows by the words of one stream, compiled by Numba."""

import numpy as np

from .compiled import compiled


@compiled
def shuffle_rows(words, members, starts, out, done):  # type: ignore[no-untyped-def]
    """Shuffle rows of `out` from row `done` on, as `numpy.random.Generator.permuted` does, until words are lacking.

    Parameters
    ----------
    words : ndarray of uint32
        What the stream gives next.
    members, starts : ndarray of int64
        The places of a row among which values are exchanged, in runs ``members[starts[s]:starts[s + 1]]``. All rows of
        a set have their first run shuffled before the second.
    out : ndarray of int64, shape (sets, rows, n)
    done : int
        So many runs of rows are done.

    Returns
    -------
    done, used, lacking : int
        What is done now, how many words that took, and how many more the next run takes at least.
    """
    sets, rows, _ = out.shape
    runs = len(starts) - 1
    used = lacking = 0
    shuffled = np.empty(np.max(starts[1:] - starts[:-1]), dtype=np.int64)
    while done < sets * runs * rows:
        own = done // rows % runs
        places = members[starts[own] : starts[own + 1]]
        taken = _shuffle(words[used:], places, shuffled)
        if taken < 0:
            lacking = -taken
            break
        row = out[done // (rows * runs), done % rows]
        for i in range(len(places)):
            row[places[i]] = shuffled[i]
        used += taken
        done += 1
    return done, used, lacking


@compiled
def _shuffle(words, values, shuffled):  # type: ignore[no-untyped-def]
    """Put `values` into `shuffled`, shuffled; the number of words that took, or minus those lacking at least."""
    last, used = len(values) - 1, 0
    for i in range(len(values)):
        shuffled[i] = values[i]
    mask = 1
    while mask < last:
        mask = 2 * mask + 1
    while last > 0:
        while last > mask >> 1:
            if used == len(words):
                return -last
            j = np.int64(words[used]) & mask
            used += 1
            # A number that is too large is left out, without a branch that no processor foresees.
            accepted = j <= last
            other = j if accepted else last
            shuffled[last], shuffled[other] = shuffled[other], shuffled[last]
            last -= int(accepted)
        mask >>= 1
    return used
