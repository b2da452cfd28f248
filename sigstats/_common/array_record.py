"""Frozen records with arrays among their fields: `==`, and a `repr` as `numpy.array` takes it."""

from dataclasses import fields
from typing import Any

import numpy as np

from .tabular import shown_record


class ArrayRecord:
    """A base of dataclasses made with ``eq=False, repr=False``.

    Equal records have equal fields, shapes and kinds of numbers; missing values equal each other. They have no hash.
    The `repr` has no rounded digit; of more than a hundred elements it has the first and the last.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True, eq=False, repr=False)
    ... class Law(ArrayRecord):
    ...     mass: np.ndarray
    >>> Law(np.array([0.1, 0.9]))
    Law(mass=array([0.1, 0.9]))
    >>> Law(np.array([0.1, 0.9])) == Law(np.array([0.1, 0.9]))
    True
    """

    __hash__ = None  # type: ignore[assignment]  # arrays have none

    __repr__ = shown_record

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(map(_equal, _values(self).values(), _values(other).values()))


def _values(record: Any) -> dict[str, Any]:
    return {field.name: getattr(record, field.name) for field in fields(record)}


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        floats = one.dtype.kind == "f"
        return one.dtype.kind == other.dtype.kind and bool(np.array_equal(one, other, equal_nan=floats))
    return bool(one == other)
