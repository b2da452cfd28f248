"""Slices of a number, such as an age: bins of about equally many rows."""

import math
from collections.abc import Iterator, Mapping

import numpy as np

from .._common.messages import shown
from .._common.validation import IntArray

#: The values of a column, and the number of each row's.
Parted = tuple[tuple[str, ...], IntArray]


def in_bins(slices: Mapping[str, Parted], bins: Mapping[str, int]) -> dict[str, Parted]:
    """The slices, with those of the columns that `bins` names replaced by so many bins of about equally many rows.

    A bin is called by its smallest and its largest value. Equal values are in one bin, so there may be fewer bins.
    ValueError if a column has a value that is no number.
    """
    return {name: _binned(name, parted, bins[name]) if name in bins else parted for name, parted in slices.items()}


def _binned(column: str, parted: Parted, n_bins: int) -> Parted:
    names, codes = parted
    values = np.array([_number(name) for name in names])
    if wrong := next((name for name, value in zip(names, values, strict=True) if not math.isfinite(value)), None):
        raise ValueError(f"bins: column {shown(column)} has the value {shown(wrong)}; expected numbers alone")
    rows = np.bincount(codes, minlength=len(names))
    order = np.argsort(values, kind="stable")
    middle = np.cumsum(rows[order]) - rows[order] / 2
    bin_of = np.empty(len(names), dtype=np.int64)
    used, bin_of[order] = np.unique((n_bins * middle / max(1, rows.sum())).astype(np.int64), return_inverse=True)
    called = []
    for each in range(len(used)):
        inside = [names[k] for k in order if bin_of[k] == each]
        called.append(inside[0] if len(inside) == 1 else f"{inside[0]} to {inside[-1]}")
    return tuple(called), bin_of[codes]


def _number(name: str) -> float:
    try:
        return float(name)
    except ValueError:
        return math.nan


def too_fine(slices: Mapping[str, Parted], smallest: int) -> Iterator[str]:
    """A note for each column of numbers of which most values have fewer than the `smallest` number of rows."""
    for column, (names, codes) in slices.items():
        if len(names) <= _FEW or not all(math.isfinite(_number(name)) for name in names):
            continue
        small = int((np.bincount(codes, minlength=len(names)) < smallest).sum())
        if 2 * small > len(names):
            yield (
                f"{small:,} of the {len(names):,} values of {column} have fewer than {smallest} rows; bins make slices "
                f"of numbers (--bins {column}=4, or pandas.qcut)"
            )


#: So many values of a column of numbers may each be a slice of their own.
_FEW = 8
