"""Numbers and lists as a person writes them."""

import math
from collections.abc import Sequence

from sigstats._common.messages import join_words as join_words
from sigstats._common.messages import some_of as some_of
from sigstats._common.numerals import NBSP as NBSP
from sigstats._common.numerals import SMALLEST_P, SUPERSCRIPT
from sigstats._common.numerals import both_ends as both_ends
from sigstats._common.numerals import index_number as index_number
from sigstats._common.numerals import number as number
from sigstats._common.numerals import p_number as p_number
from sigstats._common.numerals import significant as significant

_ADJUSTED = {
    "holm": "Holm-adjusted p",
    "benjamini-hochberg": "Benjamini-Hochberg-adjusted p",
    "benjamini-yekutieli": "Benjamini-Yekutieli-adjusted p",
    "none": "p",
}


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


def points(value: float, n: int | None = None) -> str:
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
