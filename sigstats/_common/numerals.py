"""Numbers as people write them: p-values, levels, ends of intervals; the order of texts with numbers."""

import math
import re
from collections.abc import Callable
from typing import TypeAlias

#: The sort key of a name, in which numbers count as numbers.
NaturalKey: TypeAlias = tuple[tuple[int, int, str], ...]
_NUMBER = re.compile(r"(\d+)")
#: A space at which a line does not break.
NBSP = "\N{NO-BREAK SPACE}"
SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
#: Smaller p-values are known only by their logarithm: below, a float loses digits, or is 0.
SMALLEST_P = 1e-300
#: More decimals than a float64 between 0 and 1 has.
_MOST_DECIMALS = 17


def p_number(p: float, log10_p: float | None = None) -> str:
    """Return a p-value with three significant digits, two below 0.01, and as a power of ten if it is small.

    It is 0 only if its logarithm is minus infinity: the null hypothesis excludes the observed outcome. Its spaces are
    not broken.

    >>> p_number(0.0496), p_number(0.00359), p_number(3.21e-5).split(), p_number(0.0, log10_p=-512.3).split()
    ('0.0496', '0.0036', ['3.2', '×', '10⁻⁵'], ['5', '×', '10⁻⁵¹³'])
    """
    if p >= 1:
        return "1"
    if log10_p == -math.inf:
        return "0"
    if p > 0.9994:
        return f">{NBSP}0.999"
    if p >= 0.999e-4:
        return f"{p:.3g}" if p >= 0.00995 else f"{p:.2g}"
    if p >= SMALLEST_P:
        mantissa, exponent = f"{p:.1e}".split("e")
    elif log10_p is not None and math.isfinite(log10_p):
        power = math.floor(log10_p)
        mantissa, exponent = f"{10 ** (log10_p - power):.1f}", str(power)
        if mantissa == "10.0":
            mantissa, exponent = "1.0", str(power + 1)
    else:
        return f"<{NBSP}10⁻³⁰⁰"
    return _times_power(mantissa.removesuffix(".0"), exponent)


def _times_power(mantissa: str, exponent: str) -> str:
    return f"{mantissa}{NBSP}×{NBSP}10{str(int(exponent)).translate(SUPERSCRIPT)}"


def points(share: float) -> str:
    """Return a difference of shares in percentage points.

    >>> points(0.01), points(0.0312), points(0.000043)
    ('1 point', '3.12 points', '0.0043 points')
    """
    shown = significant(100 * share, 3)
    return f"{shown} point" if shown == "1" else f"{shown} points"


def significant(value: float, digits: int = 6) -> str:
    """Return a number with this many significant digits. Below 0.0001 it is a power of ten, as p-values are.

    >>> significant(1 / 3, 3), significant(-2.5), significant(0.00005).split()
    ('0.333', '−2.5', ['5', '×', '10⁻⁵'])
    """
    mantissa, power, exponent = f"{value:.{digits}g}".partition("e")
    mantissa = mantissa.replace("-", "−")
    return _times_power(mantissa, exponent) if power else mantissa


def both_ends(low: float, high: float, written: Callable[[float, int], str], digits: int) -> tuple[str, str]:
    """Return the ends of an interval by ``written(value, digits)``, with more `digits` if they would look equal.

    >>> both_ends(0.12, 0.31, number, 1), both_ends(0.0012, 0.0031, number, 1)
    (('0.1', '0.3'), ('0.001', '0.003'))
    """
    ends = written(low, digits), written(high, digits)
    while ends[0] == ends[1] and low != high and digits < _MOST_DECIMALS:
        digits += 1
        ends = written(low, digits), written(high, digits)
    return ends


def index_number(value: float) -> str:
    """Return a possibility or necessity with two decimals; values just inside 0 and 1 are not rounded to these.

    >>> index_number(0.984), index_number(0.9999).split(), index_number(1)
    ('0.98', ['>', '0.99'], '1.00')
    """
    if 0.995 <= value < 1:
        return f">{NBSP}0.99"
    if 0 < value < 0.005:
        return f"<{NBSP}0.01"
    return number(value, 2)


def number(value: float, decimals: int) -> str:
    """Return a number with a true minus sign (not before zero) and separators of thousands."""
    text = f"{value:,.{decimals}f}"
    if not text.strip("-0."):
        return text.removeprefix("-")
    return text.replace("-", "−")


def natural(text: str) -> NaturalKey:
    """Return the key of a name in natural order.

    >>> sorted(["look-10", "look-9"], key=natural)
    ['look-9', 'look-10']
    """
    return tuple((1, int(part), "") if part.isdecimal() else (0, 0, part) for part in _NUMBER.split(text) if part)
