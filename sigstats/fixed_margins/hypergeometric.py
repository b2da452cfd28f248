"""Tails of the hypergeometric distribution to full relative precision, however far out and however large."""

import math
from decimal import Decimal

import numpy as np

from .._common.error_bounds import ROUNDING
from .._common.validation import FloatArray
from .rook_factor import log_factorial
from .rook_polynomial import LogTail


def hypergeometric_tail(total: int, marked: int, drawn: int, least: int) -> LogTail:
    """Logarithms of ``P(M >= least)`` and ``P(M = least)``.

    It is to be called within `sigstats.fixed_margins.rook_factor.DIGITS`. M is the number of marked objects among
    `drawn` ones out of `total`, of which `marked` are.

    >>> [round(log.exp(), 9) for log in hypergeometric_tail(10, 4, 3, 2)[:2]]
    [Decimal('0.333333333'), Decimal('0.300000000')]
    """
    lowest, highest = max(0, marked + drawn - total), min(marked, drawn)
    impossible = Decimal("-Infinity")
    if least > highest:
        return LogTail(impossible, impossible)
    if least <= lowest:
        return LogTail(Decimal(0), _log_point(total, marked, drawn, lowest) if least == lowest else impossible)
    point = _log_point(total, marked, drawn, least)
    if least > marked * drawn / total:
        ratio, error = _beyond(total, marked, drawn, least, highest)
        return LogTail(point + ratio.ln(), point, error)
    below = _log_point(total, marked, drawn, least - 1)
    # Counting what was not drawn turns the lower tail into an upper one.
    other = total - marked
    ratio, error = _beyond(total, other, drawn, drawn - least + 1, drawn - lowest)
    lower = below.exp() * ratio
    return LogTail((1 - lower).ln(), point, error * float(lower / (1 - lower)))


def _log_point(total: int, marked: int, drawn: int, number: int) -> Decimal:
    parts = (marked, drawn, total - marked, total - drawn)
    over = (total, number, marked - number, drawn - number, total - marked - drawn + number)
    return sum(map(log_factorial, parts), Decimal(0)) - sum(map(log_factorial, over), Decimal(0))


def _beyond(total: int, marked: int, drawn: int, number: int, highest: int) -> tuple[Decimal, float]:
    """``P(M >= number) / P(M = number)`` for a number above the mean, where terms fall off, and its relative error.

    The ratio of two terms has at most four roundings, and term i is a product of i ratios.
    """
    spread = math.sqrt(marked * drawn / total * (1 - marked / total) * (1 - drawn / total)) + 1
    # From the mean on, log-concavity leaves less than 1e-20 of the sum beyond this many terms.
    length = min(highest - number, 100 + math.ceil(12 * spread))
    n = number + np.arange(length, dtype=float)
    ratio: FloatArray = (marked - n) * (drawn - n) / ((n + 1) * (total - marked - drawn + n + 1))
    terms = np.cumprod(ratio)
    whole = math.fsum([1.0, *terms])
    return Decimal(whole), ROUNDING * (2 + 5 * float(np.arange(1, length + 1) @ terms) / whole)
