"""Permutations of rows by `numpy.random.Generator.permuted`, made by compiled code where Numba is there.

The compiled code takes the same numbers of the stream and gives the same permutations, in a third of the time. Whether
the NumPy that is installed shuffles so is tried once.
"""

import functools
import sys
from typing import Any

import numpy as np

from .._common.compiled_or import compiled_or
from .._common.validation import IntArray

#: Bit generators of 64 bits, of which NumPy takes the lower half of a number first, and keeps the upper.
_BY_HALVES = (np.random.PCG64, np.random.PCG64DXSM, np.random.Philox, np.random.SFC64)

#: For fewer values than this Numba is not imported, which takes longer.
_MANY = 2**21

#: So many numbers of 32 bits stay in cache, in memory that is used again.
_AT_ONCE = 2**16

#: More values than this are numbered by more than 32 bits.
_MOST = 2**31


def permutations(generator: np.random.Generator, runs: list[IntArray], shape: tuple[int, int, int]) -> IntArray:
    """Rows of the numbers from 0 on, in which those of each run are exchanged.

    `generator`: it is advanced as by calls of ``generator.permuted``, one for each set and run.
    `runs`: numbers that are exchanged with each other; none is in two of them.
    `shape`: of the result.
    """
    kind = type(generator.bit_generator)
    large = np.prod(shape) >= _MANY or "numba" in sys.modules
    if kind in _BY_HALVES and large and shape[2] < _MOST and _is_as_numpy(kind):
        return _compiled(generator, runs, shape)
    return _by_numpy(generator, runs, shape)


def _by_numpy(generator: np.random.Generator, runs: list[IntArray], shape: tuple[int, int, int]) -> IntArray:
    made = np.broadcast_to(np.arange(shape[2]), shape).copy()
    for rows in made:
        for run in runs:
            rows[:, run] = generator.permuted(np.broadcast_to(run, (shape[1], len(run))), axis=1)
    return made


def _compiled(generator: np.random.Generator, runs: list[IntArray], shape: tuple[int, int, int]) -> IntArray:
    shuffle_rows = _shuffle_rows()
    made = np.broadcast_to(np.arange(shape[2]), shape).copy()
    starts = np.concatenate([[0], np.cumsum([len(run) for run in runs])])
    members = np.concatenate(runs)
    # A run of m numbers takes m - 1 words or more.
    needed = np.concatenate([[0], np.cumsum(np.repeat(np.maximum(np.diff(starts) - 1, 0), shape[1]))])
    each, done, words = len(needed) - 1, 0, np.empty(0, dtype=np.uint32)
    lacking = shape[0] * int(needed[-1])
    while done < shape[0] * each:
        words = np.concatenate([words, _take_words(generator.bit_generator, min(lacking, _AT_ONCE))])
        done, used, lacking = shuffle_rows(words, members, starts, made, done)
        words = words[used:]
        sets, later = divmod(done + 1, each)
        lacking += (shape[0] - sets) * int(needed[-1]) - int(needed[later])
    return made


def _take_words(stream: Any, count: int) -> Any:
    """The next `count` numbers of 32 bits, and the stream advanced by them."""
    state = stream.state
    kept = [state["uinteger"]] if state["has_uint32"] and count else []
    words = stream.random_raw((count - len(kept) + 1) // 2).astype("<u8").view("<u4")
    over = len(words) - (count - len(kept))
    if kept or over:
        state = stream.state
        state["has_uint32"] = over
        if over:
            state["uinteger"] = int(words[-1])
        stream.state = state
    return np.concatenate([np.array(kept, dtype=np.uint32), words[: len(words) - over]])


@compiled_or(None)
def _shuffle_rows() -> Any:
    """The compiled shuffle; None without Numba."""
    from ._shuffle import shuffle_rows

    return shuffle_rows


@functools.cache
def _is_as_numpy(kind: Any) -> bool:
    """True if compiled code is there, and shuffles as the NumPy that is installed."""
    if _shuffle_rows() is None:
        return False
    ours, theirs = (np.random.Generator(kind(1)) for _ in range(2))
    runs, shape = [np.arange(0, 40, 2), np.arange(1, 25, 2)], (2, 3, 40)
    same = np.array_equal(_compiled(ours, runs, shape), _by_numpy(theirs, runs, shape))
    return same and bool(ours.integers(2**32) == theirs.integers(2**32))
