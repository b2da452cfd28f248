"""`pytest.approx` tells small p-values apart, and is absolute only where a test says how far."""

import numpy as np
import pytest

_KINDS = ["float", "list", "tuple", "dict", "array"]


@pytest.mark.parametrize("options", [{}, {"rel": 1e-9}], ids=["plain", "rel"])
@pytest.mark.parametrize("wrap", [float, lambda p: [p], lambda p: (0.5, p), lambda p: {"p": p}, np.array], ids=_KINDS)
def test_small_p_values_differ_by_their_size(wrap, options):
    # 3.9902e-78 was computed where 3.2066e-78 is right, and pytest's own comparison could not tell.
    right, wrong = 3.2066e-78, 3.9902e-78
    assert wrap(right * (1 + 1e-10)) == pytest.approx(wrap(right), **options)
    assert wrap(wrong) != pytest.approx(wrap(right), **options)
    assert wrap(0.0) != pytest.approx(wrap(right), **options)


def test_an_absolute_tolerance_is_what_a_test_says():
    assert pytest.approx(0) != 1e-17
    assert pytest.approx(0, abs=1e-12) == 1e-17
    assert pytest.approx(1, abs=0.01) == 1.001
    assert pytest.approx(1, abs=1e-6) != 1.001
    assert float("nan") == pytest.approx(float("nan"), nan_ok=True)
