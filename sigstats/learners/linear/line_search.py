"""The line search of More and Thuente (1994), one trial after the other, with the constants of L-BFGS-B."""

from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

_DECREASE, _CURVATURE, _WIDTH = 1e-3, 0.9, 0.1
_LONGEST: Final = 1e10

_EPS: Final = 4 * float(np.finfo(np.float64).eps)


def first_is_taken(start: Any, decline: Any, trial: Any, value: Any, slope: Any, doubt: float) -> Any:
    """True if a search ends with its first trial, of arrays of searches; False where it is doubtful, too."""
    spare = start + trial * _DECREASE * decline - value
    enough = spare > _EPS * np.maximum(np.abs(value), np.abs(start)) - doubt * trial * decline
    return enough & (np.abs(slope) < (1 - doubt) * -_CURVATURE * decline)


@dataclass
class _Point:
    """A step length, and the value and the slope there."""

    at: float
    value: float
    slope: float


@dataclass
class LineSearch:
    """A search along a direction, of which `trial` is the next step length to be tried."""

    #: The value and the slope, below 0, at step length 0.
    start: tuple[float, float]
    trial: float
    #: How far rounding may move slopes and differences of values, as a share of them.
    doubt: float
    #: The trial told last is taken.
    done: bool = False
    #: Rounding could have decided otherwise.
    doubtful: bool = False
    _bracketed: bool = field(default=False, init=False)
    _first_stage: bool = field(default=True, init=False)

    def __post_init__(self) -> None:
        self._best, self._other = _Point(0.0, *self.start), _Point(0.0, *self.start)
        self._width, self._width_before = _LONGEST, 2 * _LONGEST
        self._low, self._high = 0.0, 5 * self.trial

    def tell(self, value: float, slope: float) -> None:
        """Take the value and the slope at the trial: it is taken, or there is another."""
        first, decline = self.start
        enough = _DECREASE * decline
        ceiling = first + self.trial * enough
        steepest = -_CURVATURE * decline
        if abs(abs(slope) - steepest) <= self.doubt * steepest:
            self.doubtful = True
        if abs(value - ceiling) <= _EPS * max(abs(value), abs(first)) - self.doubt * self.trial * decline:
            self.doubtful = True
        if value <= ceiling and slope >= 0:
            self._first_stage = False
        narrow = self._bracketed and (
            not self._low < self.trial < self._high or self._high - self._low <= _WIDTH * self._high
        )
        if (value <= ceiling and abs(slope) <= steepest) or narrow:
            self.done = True
            return
        tilt = enough if self._first_stage and ceiling < value <= self._best.value else 0.0
        best, other, new = (
            _Point(p.at, p.value - p.at * tilt, p.slope - tilt)
            for p in (self._best, self._other, _Point(self.trial, value, slope))
        )
        best, other, self.trial, self._bracketed = _advance(best, other, new, self._bracketed, self._low, self._high)
        self._best, self._other = (_Point(p.at, p.value + p.at * tilt, p.slope + tilt) for p in (best, other))
        self._shrink()

    def _shrink(self) -> None:
        apart = abs(self._other.at - self._best.at)
        if self._bracketed:
            if apart >= 0.66 * self._width_before:
                self.trial = self._best.at + 0.5 * (self._other.at - self._best.at)
            self._width_before, self._width = self._width, apart
            self._low, self._high = sorted((self._best.at, self._other.at))
        else:
            self._low = self.trial + 1.1 * (self.trial - self._best.at)
            self._high = self.trial + 4.0 * (self.trial - self._best.at)
        self.trial = min(max(self.trial, 0.0), _LONGEST)
        if self._bracketed and (
            not self._low < self.trial < self._high or self._high - self._low <= _WIDTH * self._high
        ):
            self.trial = self._best.at


def _advance(
    best: _Point, other: _Point, new: _Point, bracketed: bool, low: float, high: float
) -> tuple[_Point, _Point, float, bool]:
    """The interval and the next trial, from cubics and parabolas through two points: the four cases of the paper."""
    turned = new.slope * np.sign(best.slope) < 0
    cubic = _cubic(best, new)
    secant = new.at + new.slope / (new.slope - best.slope) * (best.at - new.at) if new.slope != best.slope else new.at
    if new.value > best.value:
        chord = (best.value - new.value) / (new.at - best.at) + best.slope
        parabola = best.at + best.slope / chord / 2 * (new.at - best.at)
        nearer = abs(cubic - best.at) < abs(parabola - best.at)
        trial, bracketed = (cubic if nearer else cubic + (parabola - cubic) / 2), True
    elif turned:
        trial, bracketed = (cubic if abs(cubic - new.at) > abs(secant - new.at) else secant), True
    elif abs(new.slope) < abs(best.slope):
        ahead = (cubic - new.at) * (new.at - best.at) > 0
        far = cubic if ahead else (high if new.at > best.at else low)
        if bracketed:
            trial = far if abs(far - new.at) < abs(secant - new.at) else secant
            limit = new.at + 0.66 * (other.at - new.at)
            trial = min(limit, trial) if new.at > best.at else max(limit, trial)
        else:
            trial = far if abs(far - new.at) > abs(secant - new.at) else secant
            trial = min(max(trial, low), high)
    elif bracketed:
        trial = _cubic(other, new)
    else:
        trial = high if new.at > best.at else low
    if new.value > best.value:
        return best, new, float(trial), bracketed
    return new, (best if turned else other), float(trial), bracketed


def _cubic(a: _Point, b: _Point) -> float:
    """The minimum of the cubic with the values and slopes of both points; seen from `b`, it may lie far away."""
    theta = 3 * (a.value - b.value) / (b.at - a.at) + a.slope + b.slope
    size = max(abs(theta), abs(a.slope), abs(b.slope))
    root = size * np.sqrt(max(0.0, (theta / size) ** 2 - a.slope / size * (b.slope / size)))
    if b.at > a.at:
        root = -root
    below = (root - b.slope) + theta
    whole = ((root - b.slope) + root) + a.slope
    return float(b.at + below / whole * (a.at - b.at)) if whole else float("inf") * float(b.at - a.at)
