"""Vectors in compiled code hold what NumPy's arrays of the same type would."""

import numpy as np
import pytest

pytest.importorskip("numba", reason="Numba is an extra")

from sigstats._common.compiled import compiled
from sigstats.learners.compiled.trees import _lanes as lanes


@compiled
def _use(a, b, number, out, wide):
    per_line = 64 // a.itemsize
    for line in range(0, len(a), per_line):
        x, y = lanes.load(a, np.uint64(line)), lanes.load(b, np.uint64(line))
        few = lanes.spread(x, number)
        made = (
            lanes.add(x, y),
            lanes.subtract(x, y),
            lanes.lower(x, y),
            lanes.higher(x, y),
            lanes.up_to(x, y),
            lanes.multiply(x, few),
        )
        for which, vector in enumerate(made):
            lanes.store(out[which], np.uint64(line), vector)
        lanes.store(wide, np.uint64(line), lanes.widen(y))


@pytest.mark.parametrize("kind", [np.uint8, np.uint16, np.uint32])
def test_vectors_are_as_arrays(kind):
    rng = np.random.default_rng(3)
    most = np.iinfo(kind).max
    a, b = rng.integers(0, most, (2, 3 * 64), dtype=kind, endpoint=True)
    a[:5], b[:5] = [0, most, most, 0, 7], [0, most, 0, most, 7]
    out, wide = np.zeros((6, len(a)), dtype=kind), np.zeros(len(a), dtype=np.uint32)
    _use(a, b, 5, out, wide)
    every = np.where(a <= b, most, 0).astype(kind)
    expected = [a + b, a - b, np.minimum(a, b), np.maximum(a, b), every, a * kind(5)]
    assert np.array_equal(out, expected)
    assert np.array_equal(wide, b)
