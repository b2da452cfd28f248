"""Vectors in compiled code hold what NumPy's arrays of the same type would."""

import numpy as np
import pytest

pytest.importorskip("numba", reason="Numba is an extra")

from sigstats.learners.compiled.jit import compiled
from sigstats.learners.compiled.trees import _lanes as lanes


@compiled
def _use(a, b, out):
    per_line = 64 // a.itemsize
    for line in range(0, len(a), per_line):
        x, y = lanes.load(a, np.uint64(line)), lanes.load(b, np.uint64(line))
        lanes.store(out[0], np.uint64(line), lanes.lower(x, y))
        lanes.store(out[1], np.uint64(line), lanes.higher(x, y))


@pytest.mark.parametrize("kind", [np.uint8, np.uint16, np.uint32])
def test_vectors_are_as_arrays(kind):
    rng = np.random.default_rng(3)
    most = np.iinfo(kind).max
    a, b = rng.integers(0, most, (2, 3 * 64), dtype=kind, endpoint=True)
    a[:5], b[:5] = [0, most, most, 0, 7], [0, most, 0, most, 7]
    out = np.zeros((2, len(a)), dtype=kind)
    _use(a, b, out)
    assert np.array_equal(out, [np.minimum(a, b), np.maximum(a, b)])
