"""Noise from which compiled code and the installed library must learn the same before compiled code is used."""

from typing import NamedTuple

import numpy as np

from .._common.validation import FloatArray, IntArray

_ROWS = 150


class Noise(NamedTuple):
    """Rows, (150, columns), a class of each that no column tells, and the order of rows by class."""

    rows: FloatArray
    label: IntArray
    by_class: IntArray


def noise_of_two_classes(columns: int) -> Noise:
    """Normal numbers with 75 rows of class 0 and 75 of class 1, the same at each call."""
    rng = np.random.default_rng(1)
    rows, label = rng.normal(size=(_ROWS, columns)), rng.permutation(np.arange(_ROWS) % 2)
    return Noise(rows, label, label.argsort(kind="stable"))
