r"""The tail of a sum of whole magnitudes that fair coins include or exclude: summed, or by its characteristic function.

`tail_in_doubles` sums the law. Each magnitude adds the weights of the sums that include it to those of the sums without
it. All terms are positive, so that each addition costs at most one rounding. Wide laws are kept as two halves, with
every second magnitude in each; their convolution is summed only over the tail.

`tail_by_frequencies` is for sums too many to list. An exponential tilt moves the mean of the sum to the threshold
(Esscher 1932). The tilted law, folded onto a circle of L whole numbers, has the tail
:math:`L^{-1} \sum_k \varphi(k) G(k)`, where :math:`\varphi` is a product over the magnitudes and G a geometric sum.
Ball arithmetic bounds the rounding of the terms. Omitted parts are bounded and added: the mass beyond the circle
(Hoeffding 1963, theorem 2), and frequencies at which :math:`|\varphi|` is negligible. As
:math:`\log(1 - x) \le -x`, one Fourier transform of the magnitudes bounds :math:`|\varphi|` at all of them.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit

from .._common.validation import FloatArray
from .bounds import Tail, tilt_to

#: Up to this total of the magnitudes times their number all are summed into one law, above it into two of half as many.
_ONE_LAW = 4 * 10**6
_PIECE, _STRIDE = 2**12, 2**16
#: The number of additions after which terms are scaled down, since each may double the largest one.
_STEPS = 512
#: Bound of the sum of terms that are too small for a double.
_LOST = 1e-290


def tail_in_doubles(magnitudes: Sequence[int], threshold: int) -> tuple[float, float]:
    """Return bounds of ``P(S >= threshold)``."""
    if len(magnitudes) * sum(magnitudes) <= _ONE_LAW:
        law, scale = _law(sorted(magnitudes))
        p = float(law[max(0, threshold) :].sum()) * scale
        steps = len(magnitudes) + 100
    else:
        one, scale = _law(sorted(magnitudes)[::2])
        other, other_scale = _law(sorted(magnitudes)[1::2])
        p = _of_halves(one, _from_here_on(other), threshold) * scale * other_scale
        steps = len(magnitudes) + 100 + 2 * _PIECE + (len(one) + len(other)) // _PIECE
    rounding = steps * 2.0**-52
    return max(0.0, p * (1 - rounding) - _LOST), min(1.0, p * (1 + rounding) + _LOST)


def probabilities_below(magnitudes: Sequence[int], bound: int) -> FloatArray:
    """``P(S <= s)`` for s from 0 up to, but not including, `bound`; one rounding per magnitude and per sum."""
    law, scale = _law(magnitudes, bound)
    return law[:bound].cumsum() * scale


def _law(magnitudes: Sequence[int], bound: int | None = None) -> tuple[FloatArray, float]:
    """Return the weights of the sums, or of those below a bound, and the factor that makes them probabilities."""
    bound = sum(magnitudes) + 1 if bound is None else bound
    law = np.zeros(-(-bound // _PIECE) * _PIECE)
    law[0], reach = 1.0, 0
    for step, size in enumerate(magnitudes, 1):
        # From above, so that what is added is still as it was.
        for end in range(min(reach + 1, bound - size), 0, -_STRIDE):
            start = max(0, end - _STRIDE)
            law[size + start : size + end] += law[start:end].copy()
        reach += size
        if step % _STEPS == 0:
            law *= 2.0**-_STEPS
    return law, 2.0 ** -(len(magnitudes) % _STEPS)


def _from_here_on(law: FloatArray) -> FloatArray:
    """Return the sum of the weights from each position on, added in blocks so that no sum has many terms."""
    within = law.reshape(-1, _PIECE)[::-1, ::-1]
    within.cumsum(axis=1, out=within)
    within[1:] += within[:-1, -1].cumsum()[:, None]
    return law


def _of_halves(one: FloatArray, from_here_on: FloatArray, threshold: int) -> float:
    """Return the weight of sums over both halves that reach the threshold."""
    first, last = max(0, threshold - len(from_here_on) + 1), min(len(one), max(0, threshold))
    value = float(one[last:].sum()) * float(from_here_on[0])
    for start in range(first, last, _STRIDE):
        end = min(last, start + _STRIDE)
        value += float((one[start:end] * from_here_on[threshold - end + 1 : threshold - start + 1][::-1]).sum())
    return value


#: The binary digits after the point of the tilted tail, and of the arithmetic.
_BITS, _PRECISION = 100, 168
#: The longest circle, the most factors in doubles and the most in balls.
_MOST_FREQUENCIES, _MOST_FACTORS, _MOST_BALLS = 2**23, 2**24, 160_000
#: Negligible frequencies are left out after the factors of this many magnitudes.
_AT_A_TIME = 8
#: Largest modulus of a frequency that is left out, as a logarithm.
_SMALL = -(_BITS + 24) * math.log(2)


def tail_by_frequencies(sizes: Any, times: Any, threshold: int) -> Tail | None:
    """``P(S >= threshold)``, or None if too many frequencies matter.

    `sizes` and `times`, (D,): the distinct magnitudes, all positive, and how often each occurs. `threshold`: from 1 to
    the sum of all.
    """
    from flint import ctx

    total = int(sizes @ times)
    complement = 2 * threshold <= total
    circle = _Circle.of(sizes, times, total - threshold + 1 if complement else threshold)
    most = _MOST_BALLS // len(sizes)
    if circle.length > _MOST_FREQUENCIES or (circle.length > 4 * most and circle.mean_log_modulus > _SMALL):
        return None
    frequencies = circle.frequencies()
    if not 0 < len(frequencies) <= most:
        return None
    # Each product of complex balls, which are rectangles, may lose half a bit besides what it rounds.
    before, ctx.prec = ctx.prec, _PRECISION + len(sizes)
    try:
        low, high = circle.tail(frequencies)
        if complement:
            low, high = 1 - high, 1 - low
        return Tail(max(0.0, float(low.lower())), min(1.0, float(high.upper())), min(0.0, float(high.log().mid())))
    finally:
        ctx.prec = before


class _Circle(NamedTuple):
    """A tilted law on a circle of `length` whole numbers.

    `shares`: the probability of including each magnitude. `beyond`: the number of whole numbers from the threshold on
    that are summed. `missed`: a bound of the mass outside the circle.
    """

    sizes: Any
    times: Any
    threshold: int
    tilt: float
    shares: FloatArray
    length: int
    beyond: int
    missed: float

    @classmethod
    def of(cls, sizes: Any, times: Any, threshold: int) -> "_Circle":
        from scipy.fft import next_fast_len

        total, squares = int(sizes @ times), float((times * sizes.astype(np.float64) ** 2).sum())
        tilt = tilt_to(sizes, times, threshold)
        shares = expit(tilt * sizes)
        offset = abs(float((times * sizes * shares).sum()) - threshold) + 1 + 1e-12 * total
        reach = math.ceil(offset + math.sqrt(squares * (_BITS + 2) * math.log(2) / 2)) + 1
        if 2 * reach > total:
            length, beyond, missed = next_fast_len(total + 1, real=True), total - threshold + 1, 0.0
        else:
            length = next_fast_len(2 * reach, real=True)
            beyond, missed = length // 2, 2.0**-_BITS
        if tilt * length < 1e-12:
            tilt, shares = 0.0, np.full(len(sizes), 0.5)
        return cls(sizes, times, threshold, tilt, shares, length, beyond, missed)

    @property
    def mean_log_modulus(self) -> float:
        """The mean of the log modulus over all angles; ``log(max(s, 1 - s))`` of ``1 - s + s exp(i x)``."""
        return float(self.times @ np.log(np.maximum(self.shares, 1 - self.shares)))

    def frequencies(self) -> Any:
        """Return the frequencies, up to half the circle, at which the function may matter, or none if too many."""
        weights = 4 * self.shares * (1 - self.shares)
        folded = np.bincount(self.sizes % self.length, self.times * weights, minlength=self.length)
        whole = folded.sum()
        frequencies = np.flatnonzero(np.fft.rfft(folded).real > whole * (1 - 1e-12) + 4 * _SMALL - 1)
        logs = np.zeros(len(frequencies))  # of the moduli, from the factors so far
        done, work = 0, 0
        order = np.argsort(-self.times * weights, kind="stable")
        while done < len(order) and (work := work + _AT_A_TIME * len(frequencies)) <= _MOST_FACTORS:
            for place in order[done : done + _AT_A_TIME]:
                half_angles = self.sizes[place] % self.length * frequencies % self.length * (math.pi / self.length)
                logs += self.times[place] / 2 * np.log1p(-weights[place] * np.sin(half_angles) ** 2 * (1 - 1e-12))
            done += _AT_A_TIME
            kept = logs > _SMALL
            frequencies, logs = frequencies[kept], logs[kept]
        return frequencies if done >= len(order) else frequencies[:0]

    def tail(self, frequencies: Any) -> tuple[Any, Any]:
        """Return bounds of the tail, as balls."""
        from flint import acb, arb, fmpq

        tilt = arb(self.tilt)
        factors, log_scale = [], arb(0)
        for size, times in zip(self.sizes.tolist(), self.times.tolist(), strict=True):
            odds = (tilt * size).exp()
            factors.append((size, times, 1 / (1 + odds), odds / (1 + odds)))
            log_scale += times * ((1 + odds) / 2).log()
        sum_of_terms, shrunk = arb(0), (-tilt).exp()
        for k in frequencies.tolist():
            turn = acb(arb(fmpq(2 * k, self.length))).exp_pi_i()
            step = shrunk / turn
            geometric = acb(self.beyond) if k == 0 and self.tilt == 0 else (1 - step**self.beyond) / (1 - step)
            value = geometric / turn**self.threshold
            for size, times, left_out, included in factors:
                value *= (left_out + included * turn**size) ** times
            sum_of_terms += value.real * (1 if 2 * k in (0, self.length) else 2)
        tilted = sum_of_terms / self.length
        doubt = self.missed + self.length * 2.0 ** -(_BITS + 23)
        scale = (log_scale - tilt * self.threshold).exp()
        return (tilted - doubt) * scale, (tilted + doubt) * scale
