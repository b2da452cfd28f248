"""Frozen records with arrays among their fields: `==`, and a `repr` that loses no digit of them."""

from dataclasses import fields
from typing import Any

import numpy as np


class ArrayRecord:
    """A base of dataclasses made with ``eq=False, repr=False``.

    Equal records have equal fields, shapes and kinds of numbers; missing values equal each other. They have no hash.
    The `repr` names every element of an array, as ``numpy.array`` takes it.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> from sigstats._common.array_record import ArrayRecord
    >>> @dataclass(frozen=True, eq=False, repr=False)
    ... class Law(ArrayRecord):
    ...     mass: np.ndarray
    >>> Law(np.array([0.1, 0.9]))
    Law(mass=array([0.1, 0.9]))
    >>> Law(np.array([0.1, 0.9])) == Law(np.array([0.1, 0.9]))
    True
    """

    __hash__ = None  # type: ignore[assignment]  # arrays have none

    def __repr__(self) -> str:
        shown = (f"{name}={_shown(value)}" for name, value in _values(self).items())
        return f"{type(self).__name__}({', '.join(shown)})"

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(map(_equal, _values(self).values(), _values(other).values()))


def _values(record: Any) -> dict[str, Any]:
    return {field.name: getattr(record, field.name) for field in fields(record)}


def _shown(value: Any) -> str:
    return f"array({value.tolist()})" if isinstance(value, np.ndarray) else repr(value)


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        floats = one.dtype.kind == "f"
        return one.dtype.kind == other.dtype.kind and bool(np.array_equal(one, other, equal_nan=floats))
    return bool(one == other)
