"""The counts of two samples, checked."""

from typing import Any

from .._common.validation import IntArray, as_counts, refuse, require_same_index


def as_two_samples(counts_a: Any, counts_b: Any) -> tuple[IntArray, IntArray]:
    """Both samples' counts of the classes that occur.

    Raises ValueError if counts are negative or fractional, of one class only or of unequal number, or a sample is
    empty; or if both are pandas Series of which the labels differ, or stand in another order.
    """
    require_same_index(counts_a=counts_a, counts_b=counts_b)
    a, b = as_counts(counts_a, "counts_a", ndim=1), as_counts(counts_b, "counts_b", ndim=1)
    if len(a) != len(b):
        raise refuse("counts_b (length)", len(b), f"{len(a)} classes, as counts_a has")
    if len(a) < 2:
        raise refuse("counts_a (length)", len(a), "two classes or more")
    for name, counts in (("counts_a", a), ("counts_b", b)):
        if not counts.any():
            raise refuse(f"{name} (total)", 0, "at least one object")
    occurs = (a > 0) | (b > 0)
    return a[occurs], b[occurs]
