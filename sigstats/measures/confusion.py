"""The four counts of a two-class problem, checked, and ratios of them."""

from collections.abc import Callable
from functools import wraps
from typing import Any, NamedTuple, ParamSpec

import numpy as np

from .._common.validation import FloatArray, as_counts, as_real, refuse

_P = ParamSpec("_P")


class Confusion(NamedTuple):
    """The four counts of a two-class problem, whole numbers or arrays of one shape."""

    tp: Any
    fn: Any
    fp: Any
    tn: Any


def checked_confusion(tp: Any, fn: Any, fp: Any, tn: Any) -> Confusion:
    """The counts as float64 arrays of one shape, or ValueError."""
    named = {"tp": tp, "fn": fn, "fp": fp, "tn": tn}
    arrays = [as_counts(value, name).reshape(np.shape(value)).astype(np.float64) for name, value in named.items()]
    try:
        return Confusion(*np.broadcast_arrays(*arrays))
    except ValueError:
        shapes = [array.shape for array in arrays]
        raise refuse("tp, fn, fp, tn (shapes)", shapes, "shapes that broadcast to one") from None


def of_counts(core: Callable[_P, Any]) -> Callable[_P, Any]:
    """Make a measure check its counts; ``inspect.unwrap`` returns the measure without these checks."""

    @wraps(core)
    def checked(tp: Any, fn: Any, fp: Any, tn: Any, **options: Any) -> Any:
        value = np.asarray(core(*checked_confusion(tp, fn, fp, tn), **options))
        return float(value) if value.ndim == 0 else value

    return checked  # type: ignore[return-value]


def ratio(numerator: Any, denominator: Any, undefined: float) -> FloatArray:
    """``numerator / denominator`` of float arrays, and `undefined` where both are 0."""
    undefined, defined = _as_undefined(undefined), np.asarray(np.not_equal(denominator, 0))
    values = np.empty(np.shape(denominator))
    if defined.all():  # without a mask it takes a third of the time
        np.divide(numerator, denominator, out=values)
    else:
        values.fill(undefined)
        np.divide(numerator, denominator, out=values, where=defined)
    return values


def _as_undefined(value: Any) -> float:
    """The value of 0/0: NaN, or a finite number."""
    if isinstance(value, (float, np.floating)) and np.isnan(value):
        return float("nan")
    return as_real(value, "undefined")
