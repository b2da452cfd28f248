"""Checks of arguments.

Every function of the package checks its arguments here: bad input raises ``ValueError`` with one line that names the
field, the value and a correct value, and no other exception escapes. Messages are worded by
`sigstats._common.messages`, whose names this module exports too.
"""

import contextlib
import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from numbers import Real
from typing import Any, Literal, TypeAlias, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .messages import did_you_mean as did_you_mean
from .messages import hint as hint
from .messages import nearest
from .messages import one_line as one_line
from .messages import raised as raised
from .messages import refuse as refuse
from .messages import shown as shown

Labels: TypeAlias = ArrayLike
IntArray: TypeAlias = NDArray[np.int64]
FloatArray: TypeAlias = NDArray[np.float64]
Alternative: TypeAlias = Literal["two-sided", "greater", "less"]
#: The least and greatest possible values, or None if they are unknown.
Limits: TypeAlias = tuple[float, float] | None
Choice = TypeVar("Choice", bound=str)

ALTERNATIVES: tuple[Alternative, ...] = ("two-sided", "greater", "less")
#: The largest total of counts. Up to it, sums and products of two margins are exact in int64 and float64 steps.
MAX_TOTAL = 2**53
#: The largest magnitude of numbers that are squared and added.
LARGEST_SQUARABLE = 1e150
#: What messages expect in place of whole numbers that float64 would round.
EXACT_WHOLE = f"whole numbers that float64 holds: all up to {MAX_TOTAL}, and few above"
#: What messages expect if labels mix whole numbers with floats, or signed with unsigned numbers.
_EXACT_LABELS = f"whole numbers below {MAX_TOTAL} in size if some are floats: beyond, floats round them"
#: Types that `int` or `float` would accept, but that are not numbers.
_NO_NUMBERS = (bool, np.bool_, str, bytes, bytearray, np.ma.core.MaskedConstant)


def as_count(value: Any, name: str, *, minimum: int = 0, maximum: int = MAX_TOTAL) -> int:
    """Return a whole number. Raise ValueError unless it is between `minimum` and `maximum`."""
    wanted = f"a whole number from {minimum} to {maximum}"
    if isinstance(value, _NO_NUMBERS):
        raise refuse(name, value, wanted)
    try:
        number = int(value)
        equal = bool(number == value)
    except Exception:  # a user's object may raise anything
        raise refuse(name, value, wanted) from None
    if not equal or not minimum <= number <= maximum:
        raise refuse(name, value, wanted)
    return number


def as_counts(value: Any, name: str, *, ndim: int | None = None, minimum_size: int = 1) -> IntArray:
    """Return an array of whole, non-negative numbers with a total of at most `MAX_TOTAL`, or raise ValueError."""
    form = {1: "a sequence", 2: "a rectangular table"}.get(ndim or 0, "an array")
    wanted = f"{form} of whole numbers of at least 0"
    array = _as_numeric_array(value, name, wanted)
    if ndim is not None and array.ndim != ndim:
        raise refuse(name, value, wanted)
    if array.size < minimum_size:
        raise refuse(name, value, f"{wanted}, {minimum_size} or more of them")
    if array.dtype.kind == "f":
        good = np.isfinite(array) & (np.floor(array) == array) & (array >= 0) & (array <= MAX_TOTAL)
    else:
        good = (array >= 0) & (array <= MAX_TOTAL)
    refuse_where(~good, array, name, wanted)
    total = int(sum(int(x) for x in array.flat)) if array.size < 64 else float(array.sum(dtype=np.float64))
    if total > MAX_TOTAL:
        raise refuse(name, total, f"at most {MAX_TOTAL}", quantity="total")
    return np.ascontiguousarray(array, dtype=np.int64)


def as_indicators(value: Any, name: str) -> NDArray[np.bool_]:
    """Return a sequence, maybe empty, of False and True, or 0 and 1, as booleans, or raise ValueError."""
    try:
        array = np.asarray(value)
    except Exception:  # ragged, or an object that NumPy cannot read
        array = None
    if array is not None and array.dtype == np.bool_ and array.ndim == 1:
        return array
    counts = as_counts(value, name, ndim=1, minimum_size=0)
    refuse_where(counts > 1, counts, name, "a sequence of 0 and 1")
    return np.asarray(counts == 1)


def as_real(value: Any, name: str, *, low: float = -math.inf, high: float = math.inf, open_ends: bool = False) -> float:
    """Return a finite number in ``[low, high]``, or in ``(low, high)`` with `open_ends`. Raise ValueError otherwise."""
    if math.isinf(low) and math.isinf(high):
        wanted = "a finite number"
    else:
        wanted = f"a number {'strictly ' if open_ends else ''}between {low:g} and {high:g}"
    if isinstance(value, _NO_NUMBERS):
        raise refuse(name, value, wanted)
    try:
        number = float(value)
    except Exception:  # a user's object may raise anything
        raise refuse(name, value, wanted) from None
    inside = low < number < high if open_ends else low <= number <= high
    if not math.isfinite(number) or not inside:
        percent = f", as in {number / 100:g} for {number:g}%" if (low, high) == (0, 1) and 1 < number < 100 else ""
        raise refuse(name, value, wanted + percent)
    return number


def as_reals(value: Any, name: str, *, ndim: int | None = None, minimum_size: int = 1) -> FloatArray:
    """Return an array of finite numbers. Raise ValueError otherwise."""
    wanted = {1: "a sequence", 2: "a rectangular table"}.get(ndim or 0, "an array") + " of finite numbers"
    array = _as_numeric_array(value, name, wanted)
    if (ndim is not None and array.ndim != ndim) or array.size < minimum_size:
        raise refuse(name, value, f"{wanted}, {minimum_size} or more of them")
    refuse_where(~np.isfinite(array), array, name, wanted)
    reals = np.ascontiguousarray(array, dtype=np.float64)
    if array.dtype.kind in "iu" and array.dtype.itemsize == 8:
        rounded = [item for item in array[np.abs(reals) >= MAX_TOTAL].tolist() if int(float(item)) != item]
        if rounded:  # two of them may differ and be equal as float64
            raise refuse(name, rounded[0], EXACT_WHOLE)
    return reals


def as_differences(value: Any, *, ndim: int = 1, minimum_size: int = 1) -> FloatArray:
    """Return an array of paired differences. Raise ValueError if they cannot be squared."""
    refuse_unsigned(value, "differences")
    array = as_reals(value, "differences", ndim=ndim, minimum_size=minimum_size)
    require_squarable(array, "differences")
    return array


def refuse_unsigned(differences: Any, name: str) -> None:
    """Refuse differences of an unsigned type, which turns negative differences into large numbers."""
    first = differences[0] if isinstance(differences, (list, tuple)) and differences else differences
    if "uint" in (kind := str(getattr(first, "dtype", ""))).lower():
        raise refuse(
            f"{name} (dtype)", kind, "a signed type; subtract after .astype(int): unsigned numbers wrap below 0"
        )


def as_probabilities(value: Any, name: str) -> FloatArray:
    """Return probabilities of two or more outcomes that sum to one within 1e-9, or raise ValueError."""
    rounding = 1e-9
    array = as_reals(value, name, ndim=1, minimum_size=2)
    refuse_where((array < 0) | (array > 1 + rounding), array, name, "probabilities between 0 and 1")
    total = math.fsum(array)
    if abs(total - 1) > rounding:
        raise refuse(name, total, "probabilities that sum to 1", quantity="sum")
    return array


def as_labels(value: Any, name: str, *, minimum_size: int = 1) -> NDArray[Any]:
    """Return a sequence of class labels, all numbers or all strings, none missing, or raise ValueError.

    Labels of two sequences may be compared with ``==`` if both are numbers or both strings; otherwise
    `same_kind_of_labels` refuses them, since every comparison would silently be unequal.
    """
    wanted = "a sequence of class labels, all numbers or all strings"
    array = as_array(value, name, wanted)
    if array.ndim == 2:
        texts = any(isinstance(part, str) for part in array[:1].flat)
        many = "'a/b' in place of ('a', 'b')" if texts else f"np.argmax({name}, axis=1) of one-hot columns"
        cure = many if array.shape[1] > 1 else f"np.ravel({name})"
        raise refuse(name, array.shape, f"one class label for each row, such as {cure}", quantity="shape")
    if array.ndim != 1 or array.size < minimum_size:
        raise refuse(name, value, f"{wanted}, {minimum_size} or more of them")
    if array.dtype.kind == "O":  # what pandas gives for strings; NumPy itself would turn 1 and None into text
        array = _texts(array, name, wanted)
    elif array.dtype.kind == "U" and not isinstance(value, np.ndarray):
        array = _texts(np.asarray(value, dtype=object), name, wanted)
    if array.dtype.kind not in "biufU":
        raise refuse(name, value, wanted)
    if array.dtype.kind == "f":
        refuse_where(~np.isfinite(array), array, name, wanted)
        refuse_where(np.abs(array) >= np.float64(MAX_TOTAL), array, name, _EXACT_LABELS)
    return array


def _texts(labels: NDArray[Any], name: str, wanted: str) -> NDArray[Any]:
    """Return an array of strings. Members of ``class A(str, Enum)`` become values; NumPy would cut their ``str()``."""
    if strange := [label for label in labels if not isinstance(label, str)]:
        raise refuse(name, strange[0], wanted)
    return np.array([str.__str__(label) for label in labels])


def same_kind_of_labels(first: NDArray[Any], second: NDArray[Any], name: str, *, aligned: bool = True) -> None:
    """Raise ValueError unless NumPy compares the labels of `second`, called `name`, exactly with those of `first`.

    If `aligned`, their lengths must also be equal.
    """
    if aligned and first.size != second.size:
        raise refuse(name, second.size, f"{first.size}, one label for each observation", quantity="length")
    if (first.dtype.kind == "U") != (second.dtype.kind == "U"):
        raise refuse(name, second[0], "labels of the same kind everywhere: all numbers or all strings")
    if first.dtype.kind == "U" or np.result_type(first, second).kind != "f":
        return
    if second.dtype.kind == first.dtype.kind and second.dtype != first.dtype and (256 * second % 1).any():
        problem = f"the labels are {second.dtype}, and 0.1 differs between {second.dtype} and {first.dtype}"
        raise ValueError(f"{name}: {problem}; expected one float type, or whole numbers")
    for labels in (first, second):
        if labels.dtype.kind in "iu" and labels.size:
            farthest = max(int(labels.max()), int(labels.min()), key=abs)
            if abs(farthest) > MAX_TOTAL:
                raise refuse(name, farthest, _EXACT_LABELS)


def as_choice(value: Any, name: str, options: Sequence[Choice]) -> Choice:
    """Return the value if it is one of `options`. Raise ValueError, which names the nearest option, otherwise."""
    if isinstance(value, str) and value in options:
        return options[options.index(cast(Choice, value))]
    meant = "" if (near := nearest(value, options)) is None else f"did you mean {near!r}? "
    raise ValueError(f"{name}: {shown(value)} is not valid; {meant}expected one of {', '.join(options)}")


def as_flag(value: Any, name: str) -> bool:
    """Return True or False. Raise ValueError for any other value."""
    if not isinstance(value, (bool, np.bool_)):
        raise refuse(name, value, "True or False")
    return bool(value)


def as_names(given: Sequence[str] | None, name: str, count: int) -> list[str]:
    """Return `count` distinct names, by default ``"1"``, ``"2"``, ... Raise ValueError for invalid names."""
    if given is None:
        return [str(number) for number in range(1, count + 1)]
    try:
        names = [str(text) if text is not None and text == text else "" for text in given]
    except Exception:  # pandas.NA, or an object that may raise anything
        names = [""]
    if "" in names or isinstance(given, (str, set, frozenset)):  # a set has no order
        raise refuse(name, given, f"a sequence of {count} names, none of them missing or empty")
    if len(names) != count:
        raise refuse(name, len(names), str(count), quantity="length")
    twice = [text for text in names if names.count(text) > 1] if len(set(names)) < count else []
    if twice:
        raise refuse(name, twice[0], "each name once")
    return names


def refuse_where(wrong: NDArray[np.bool_], values: NDArray[Any], name: str, wanted: str) -> None:
    """Refuse the first wrong value, if there is one."""
    if wrong.any():
        raise refuse(name, values[wrong][0], wanted)


def require_squarable(values: FloatArray, name: str) -> None:
    """Refuse numbers (except NaN) whose squares would overflow when float64 adds them."""
    wanted = f"numbers between {-LARGEST_SQUARABLE:g} and {LARGEST_SQUARABLE:g}"
    refuse_where(np.abs(values) > LARGEST_SQUARABLE, values, name, wanted)


def _as_numeric_array(value: Any, name: str, wanted: str) -> NDArray[Any]:
    array = as_array(value, name, wanted)
    if array.dtype.kind == "O" and all(isinstance(item, (Real, Decimal)) for item in array.flat):
        with contextlib.suppress(Exception):  # numbers of several kinds, such as 1/3 beside 0.25
            array = array if any(isinstance(item, bool) for item in array.flat) else array.astype(np.float64)
    if array.dtype.kind not in "iuf":
        labels = "counts" in name and array.dtype.kind == "U"
        raise refuse(name, value, wanted + ("; labels are counted first: collections.Counter" if labels else ""))
    with np.errstate(over="ignore"):  # of long doubles, which become infinite
        return array.astype(np.float64) if array.dtype.kind == "f" else array


def as_array(value: Any, name: str, wanted: str) -> NDArray[Any]:
    """Return a value as a NumPy array. Raise ValueError if that is impossible or would drop a mask."""
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise refuse(name, value, f"{wanted}, none of them masked")
    if isinstance(value, (str, bytes, bytearray)):  # NumPy would take bytes for text, or for small numbers
        raise refuse(name, value, f"{wanted}, not one text")
    if isinstance(value, (list, tuple)) and value and np.iterable(value[0]) and any(map(has_index, value)):
        require_one_index({f"{name}[{place}]": row for place, row in enumerate(value)})
    try:
        array = np.asarray(value)
    except Exception:  # ragged, or an object that may raise anything
        raise refuse(name, value, wanted) from None
    return _numbers(array) if array.dtype.kind == "O" else array


def has_index(value: Any) -> bool:
    """Return True for a pandas object; a list has a method `index`."""
    return hasattr(getattr(value, "index", None), "equals")


def require_one_index(values: Mapping[str, Any]) -> None:
    """Refuse pandas objects whose rows have other names than those of the first, or another order."""
    indices = {name: value.index for name, value in values.items() if has_index(value)}
    first = next(iter(indices), "")
    for name, index in indices.items():
        if not index.equals(indices[first]):
            raise other_labels(name, "index", index, f"the index of {first}")


def other_labels(name: str, where: str, labels: Any, wanted: str) -> ValueError:
    """Return the error for labels that are not those `wanted`, in their order."""
    fill = ", with fill_value=0 for absent classes" if name.startswith("counts_") else ""
    cure = f"reindex aligns them{fill}; an array is taken as it is"
    return refuse(f"{name} ({where})", labels, f"{wanted}, in its order ({cure})")


def _numbers(objects: NDArray[Any]) -> NDArray[Any]:
    """Convert an array of Python numbers of one kind, as nullable columns have; return others unchanged."""
    kinds = {type(item) for item in objects.flat}
    if kinds and all(issubclass(kind, (bool, np.bool_)) for kind in kinds):
        return objects.astype(np.bool_)
    if kinds and all(issubclass(kind, (float, np.floating)) for kind in kinds):
        return objects.astype(np.float64)
    if not kinds or not all(kind is int or issubclass(kind, np.integer) for kind in kinds):
        return objects
    for dtype in (np.int64, np.uint64):
        try:
            return objects.astype(dtype)
        except OverflowError:
            continue
    return objects
