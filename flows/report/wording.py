"""Numbers and lists as a person writes them."""

import math
from collections.abc import Sequence

#: A space at which a line does not break.
NBSP = "\N{NO-BREAK SPACE}"
_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_ADJUSTED = {
    "holm": "Holm-adjusted p",
    "benjamini-hochberg": "Benjamini-Hochberg-adjusted p",
    "benjamini-yekutieli": "Benjamini-Yekutieli-adjusted p",
    "none": "p",
}


def p_number(p: float, log10_p: float | None = None) -> str:
    """A p-value with three significant digits, two below 0.01, and as a power of ten where it is small.

    Spaces in it do not break.

    Examples
    --------
    >>> from sigstats.flows.report.wording import p_number
    >>> p_number(0.0496), p_number(0.2), p_number(0.00359), p_number(1.0)
    ('0.0496', '0.2', '0.0036', '1')
    >>> p_number(3.21e-5).split(), p_number(0.0, log10_p=-512.3).split()
    (['3.2', '×', '10⁻⁵'], ['5', '×', '10⁻⁵¹³'])
    """
    if p >= 1:
        return "1"
    if p > 0.9994:
        return f">{NBSP}0.999"
    if p >= 0.999e-4:
        return f"{p:.3g}" if p >= 0.00995 else f"{p:.2g}"
    if p > 0:
        mantissa, exponent = f"{p:.1e}".split("e")
    elif log10_p is not None and math.isfinite(log10_p):
        power = math.floor(log10_p)
        mantissa, exponent = f"{10 ** (log10_p - power):.1f}", str(power)
        if mantissa == "10.0":
            mantissa, exponent = "1.0", str(power + 1)
    else:
        return f"<{NBSP}10⁻³⁰⁰"  # too small for a float
    return f"{mantissa.removesuffix('.0')}{NBSP}×{NBSP}10{str(int(exponent)).translate(_SUPERSCRIPT)}"


def p_order(p: float, log10_p: float | None = None) -> str:
    """A p-value where there is little room: below 0.0001 the power of ten under which it is.

    Examples
    --------
    >>> from sigstats.flows.report.wording import p_order
    >>> p_order(0.0496), p_order(3.2e-5).split(), p_order(0.0, log10_p=-512.3).split()
    ('0.0496', ['<', '10⁻⁴'], ['<', '10⁻⁵¹²'])
    """
    if p >= 0.999e-4 or (p <= 0 and log10_p is None):
        return p_number(p, log10_p)
    power = math.floor(math.log10(p) if log10_p is None else log10_p) + 1
    return f"<{NBSP}10{str(power).translate(_SUPERSCRIPT)}"


def p_at_most(p: float, *, at_most: bool, log10_p: float | None = None) -> str:
    """A p-value as a number, with its sign where it is known only to be that small or smaller."""
    shown = p_number(p, log10_p)
    return f"≤{NBSP}{shown}" if at_most and shown[0] not in "<>" else shown


def p_equation(p: float, *, at_most: bool = False, name: str = "p") -> str:
    """A p-value with its name: ``p = 0.032`` or ``p ≤ 0.032``.

    Examples
    --------
    >>> from sigstats.flows.report.wording import p_equation
    >>> p_equation(0.032, at_most=True).split()
    ['p', '≤', '0.032']
    """
    shown = p_at_most(p, at_most=at_most)
    return f"{name}{NBSP}{shown if shown[0] in '≤<>' else f'={NBSP}{shown}'}"


def index_number(value: float) -> str:
    """A possibility or necessity with two decimals; what is not quite 0 or 1 is not shown as such.

    Examples
    --------
    >>> from sigstats.flows.report.wording import index_number
    >>> index_number(0.984), index_number(0.9999).split(), index_number(1)
    ('0.98', ['>', '0.99'], '1.00')
    """
    if 0.995 <= value < 1:
        return f">{NBSP}0.99"
    if 0 < value < 0.005:
        return f"<{NBSP}0.01"
    return number(value, 2)


def adjusted_p(adjust: str) -> str:
    """What the p-value that decides is called."""
    return _ADJUSTED.get(adjust, f"adjusted p ({adjust})")


def percent(value: float, n: int | None = None) -> str:
    """A proportion in percent, with a second decimal where one row of `n` is less than a tenth of a percent.

    Examples
    --------
    >>> from sigstats.flows.report.wording import percent
    >>> percent(1 / 3), percent(1 / 3, 20_000), percent(-0.02)
    ('33.3%', '33.33%', '−2.0%')
    """
    return number(100 * value, 2 if n is not None and n >= 10_000 else 1) + "%"


def points(value: float, n: int | None = None) -> str:
    """A difference of two proportions in percentage points, always with its sign."""
    return signed(100 * value, 2 if n is not None and n >= 10_000 else 1)


def signed(value: float, decimals: int) -> str:
    """A number always with its sign; zero has none.

    Examples
    --------
    >>> from sigstats.flows.report.wording import signed
    >>> signed(0.25, 2), signed(-0.25, 1), signed(-0.001, 2)
    ('+0.25', '−0.2', '0.00')
    """
    text = number(value, decimals)
    return text if text.startswith("−") or not text.strip("0.") else f"+{text}"


def number(value: float, decimals: int) -> str:
    """A number with a true minus sign, none before zero, and its thousands apart."""
    text = f"{value:,.{decimals}f}"
    if not text.strip("-0."):
        return text.removeprefix("-")
    return text.replace("-", "−")


def join_words(words: Sequence[str]) -> str:
    """Words as a list in a sentence.

    Examples
    --------
    >>> from sigstats.flows.report.wording import join_words
    >>> join_words(["a"]), join_words(["a", "b"]), join_words(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def count_of(count: int, noun: str, plural: str | None = None) -> str:
    """A number of things: ``1 row``, ``1,797 rows``."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"
