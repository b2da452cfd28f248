"""Numbers as people write them: p-values, levels, shares, intervals, counts, durations; the order of numbered texts."""

import math
import re
from collections.abc import Callable, Sequence
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
_ADJUSTED = {
    "holm": "Holm-adjusted p",
    "benjamini-hochberg": "Benjamini-Hochberg-adjusted p",
    "benjamini-yekutieli": "Benjamini-Yekutieli-adjusted p",
    "none": "p",
}


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


def p_order(p: float, log10_p: float | None = None) -> str:
    """Return a p-value for narrow places: below 0.0001 as an upper bound, a power of ten.

    >>> p_order(0.0496), p_order(3.2e-5).split(), p_order(0.0, log10_p=-512.3).split()
    ('0.0496', ['<', '10⁻⁴'], ['<', '10⁻⁵¹²'])
    """
    if p >= 0.999e-4 or (p < SMALLEST_P and (log10_p is None or log10_p == -math.inf)):
        return p_number(p, log10_p)
    power = math.floor(math.log10(p) if log10_p is None else log10_p) + 1
    return f"<{NBSP}10{str(power).translate(SUPERSCRIPT)}"


def p_at_most(p: float, *, at_most: bool, log10_p: float | None = None) -> str:
    """Return a p-value as a number, with a sign if only an upper bound is known."""
    shown = p_number(p, log10_p)
    return f"≤{NBSP}{shown}" if at_most and p < 1 and shown[0] not in "<>" else shown


def p_equation(p: float, *, at_most: bool = False, name: str = "p", log10_p: float | None = None) -> str:
    """Return a p-value with its name: ``p = 0.032`` or ``p ≤ 0.032``.

    >>> p_equation(0.032, at_most=True).split()
    ['p', '≤', '0.032']
    """
    shown = p_at_most(p, at_most=at_most, log10_p=log10_p)
    return f"{name}{NBSP}{shown if shown[0] in '≤<>' else f'={NBSP}{shown}'}"


def adjusted_p(adjust: str) -> str:
    """Return the name of the p-value that decides."""
    return _ADJUSTED.get(adjust, f"adjusted p ({adjust})")


def percent(value: float, n: int | None = None) -> str:
    """Return a proportion in percent, with a second decimal if one row of `n` is less than a tenth of a percent.

    >>> percent(1 / 3), percent(1 / 3, 20_000), percent(-0.02)
    ('33.3%', '33.33%', '−2.0%')
    """
    return number(100 * value, _decimals(n)) + "%"


def percent_range(low: float, high: float, n: int | None = None, *, to: str = "–") -> str:
    """Return an interval of a proportion in percent, with enough decimals to distinguish its ends.

    >>> percent_range(0.1, 0.25), percent_range(0, 0.0004, to="% to ")
    ('10.0–25.0%', '0.00% to 0.04%')
    """
    return f"{to.join(both_ends(100 * low, 100 * high, number, _decimals(n)))}%"


def percent_span(values: Sequence[float]) -> str:
    """Return the range of some proportions in percent; one number if the ends look equal."""
    low, high = min(values), max(values)
    return percent(low) if percent(low) == percent(high) else percent_range(low, high, to=" to ")


def _decimals(n: int | None) -> int:
    return 2 if n is not None and n >= 10_000 else 1


def signed_points(value: float, n: int | None = None) -> str:
    """Return a difference of two proportions in percentage points, always with its sign."""
    return signed(100 * value, _decimals(n))


def points_range(low: float, high: float, n: int | None = None) -> str:
    """Return an interval of a difference in percentage points, with enough decimals to distinguish its ends.

    >>> points_range(-0.012, 0.03), points_range(0.0001, 0.0002)
    ('−1.2 to +3.0', '+0.01 to +0.02')
    """
    return " to ".join(both_ends(100 * low, 100 * high, signed, _decimals(n)))


def signed(value: float, decimals: int) -> str:
    """Return a number always with its sign; zero has none.

    >>> signed(0.25, 2), signed(-0.25, 1), signed(-0.001, 2)
    ('+0.25', '−0.2', '0.00')
    """
    text = number(value, decimals)
    return text if text.startswith("−") or not text.strip("0.") else f"+{text}"


def count_of(count: int, noun: str, plural: str | None = None) -> str:
    """Return a number of things: ``1 row``, ``1,797 rows``."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def duration(seconds: float) -> str:
    """Return a duration in words, rounded."""
    if seconds < 90:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def natural(text: str) -> NaturalKey:
    """Return the key of a name in natural order.

    >>> sorted(["look-10", "look-9"], key=natural)
    ['look-9', 'look-10']
    """
    return tuple((1, int(part), "") if part.isdecimal() else (0, 0, part) for part in _NUMBER.split(text) if part)
