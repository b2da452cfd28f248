"""Measures of users and of other packages: functions of rows, and of counts that packages offer by an entry point.

An entry point of the group `GROUP` names a function of four arrays ``tp, fn, fp, tn``, or a `sigstats.Measure` of one.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from .._common.registry import Offered
from .._common.validation import FloatArray, raised, refuse
from .formulas import Confusion

#: The group of entry points that name measures.
GROUP = "sigstats.measures"

_MEASURES = Offered(GROUP, "measure")


def named(ready: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the names of the measures that installed packages offer, without those of `ready` ones."""
    return _MEASURES.named(ready)


def formula(name: str) -> tuple[Callable[..., FloatArray], bool]:
    """Return a package's measure and its ``greater_is_better``, True by default, or raise ValueError."""
    value = _MEASURES.find(name, ())
    function = getattr(value, "function", value)
    if not callable(function):
        raise refuse("measure", name, "a function of tp, fn, fp, tn, or a sigstats.Measure of one")

    def of_counts(tp: Any, fn: Any, fp: Any, tn: Any, *, undefined: float = 0.0) -> FloatArray:  # noqa: ARG001
        # What 0/0 is, the function says itself.
        counts = Confusion(*(np.asarray(item, dtype=np.float64) for item in (tp, fn, fp, tn)))
        return values_of(function, name, counts, counts.tp.shape)

    return of_counts, bool(getattr(value, "greater_is_better", True))


def is_path(name: Any) -> bool:
    """Return True for an import path, ``package.module:name``."""
    return isinstance(name, str) and ":" in name and "(" not in name.partition(":")[0]


def imported(path: str, allowed: Sequence[str] | None = None) -> Any:
    """Import the function at a path, or raise ValueError. `allowed`: packages; by default only that of the path."""
    packages = (path.partition(":")[0].partition(".")[0],) if allowed is None else allowed
    function = _MEASURES.find(path, packages)
    if not callable(function):
        raise refuse("measures", path, "the import path of a function or of a sigstats.Measure")
    return function


def code_of(name: str) -> dict[str, str] | None:
    """Return the identity of a package's measure, as `Offered.code_of` does, or None for built-in measures."""
    if is_path(name):
        return _MEASURES.code_of(name)
    base = name.removeprefix("micro-").removeprefix("macro-")
    if base not in named():
        return None
    formula(base)
    return _MEASURES.code_of(base)


def values_of(function: Callable[..., Any], name: str, counts: Confusion, shape: tuple[int, ...]) -> FloatArray:
    """Return a user's function of counts. Raise ValueError if it raises or returns numbers that are not finite."""
    wanted = f"a function of arrays tp, fn, fp, tn of shape {counts.tp.shape} that gives numbers of shape {shape}"
    try:
        with np.errstate(all="ignore"):
            # A count that is a difference of weighted ones may be less than 0 by their rounding.
            value = np.asarray(function(*(np.maximum(count, 0) for count in counts)), dtype=np.float64)
    except Exception as error:  # whatever a user's function may raise
        raise ValueError(f"measure: {name} failed: {raised(error)}; expected {wanted}") from error
    if value.shape != shape:
        raise refuse(f"measure (shape of {name}'s result)", value.shape, wanted)
    bad = ~np.isfinite(value)
    if bad.any():
        first = [int(count[bad][0] if shape == counts.tp.shape else count[bad][0].sum()) for count in counts]
        sentence = f"{value[bad].flat[0]} for (tp, fn, fp, tn) = {tuple(first)}"
        raise refuse(f"measure ({name})", sentence, "finite numbers, also for 0/0")
    return value


def of_function(
    function: Callable[..., Any], name: str, label: Any, prediction: Any, weights: FloatArray
) -> FloatArray:
    """Return the values of a user's function of labels, predictions and weights.

    Raises ValueError unless they are finite numbers, and a row of twice the weight counts as two rows.
    """
    wanted = "a finite number for y, prediction and weights; use sigstats.Measure for a function of tp, fn, fp, tn"

    def value(row_weights: FloatArray, rows: Any = slice(None)) -> float:
        kept = row_weights > 0
        try:
            result = float(function(label[rows][kept], prediction[rows][kept], row_weights[kept]))
        except Exception as error:  # a user's function may raise anything
            raise ValueError(f"measure: {name} failed: {raised(error)}; expected {wanted}") from error
        if not math.isfinite(result):
            raise refuse(f"measure ({name})", result, wanted)
        return result

    times = np.arange(len(label)) % 3 + 1  # a function that forgets the weights sees another number of each kind
    repeated = value(np.repeat(weights[0], times), np.repeat(np.arange(len(label)), times))
    if not math.isclose(joint := value(weights[0] * times), repeated, rel_tol=1e-6, abs_tol=1e-9):
        problem = f"gives {joint:.6g} for rows with weights and {repeated:.6g} for the same rows repeated"
        raise ValueError(f"measure: {name} {problem}; use the weights, as in np.average(..., weights=weights)")
    return np.array([value(row_weights) for row_weights in weights])
