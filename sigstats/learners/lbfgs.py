"""The iterates of L-BFGS-B without bounds, for many problems at once, with More and Thuente's (1994) line search."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from .._common.validation import FloatArray, IntArray

#: The shares of the first slope by which a taken trial must lower the value, and to which it must flatten the slope;
#: a bracket narrower than the third number ends the search.
_DECREASE, _CURVATURE, _WIDTH = 1e-3, 0.9, 0.1
_LONGEST: Final = 1e10

_EPS: Final = 4 * float(np.finfo(np.float64).eps)


def first_is_taken(start: Any, decline: Any, trial: Any, value: Any, slope: Any, doubt: float) -> Any:
    """True if a search ends with its first trial, for arrays of searches; False if it is in doubt."""
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
    """A search along a direction; `trial` is the next step length."""

    #: The value and the slope, below 0, at step length 0.
    start: tuple[float, float]
    trial: float
    #: The largest relative error of slopes and differences of values by rounding.
    doubt: float
    #: The last trial ends the search.
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
        """Use the value and the slope at the trial: accept it, or choose another trial."""
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


Evaluate = Callable[[FloatArray, IntArray], tuple[FloatArray, FloatArray]]

#: The number of pairs of a step and a change of the gradient that are kept, and of trials in a search.
_PAIRS: Final = 10
_TRIALS: Final = 20


@dataclass(frozen=True)
class Rules:
    """The rules of stopping: the largest slope, the smallest relative decrease, and the most iterations.

    After the most iterations a problem ends where it is (`ends`), or is given up. Rounding moves an iterate by at most
    `rounding` in the first steps, and by ten times more in every further ten steps.
    """

    slope: float
    decrease: float
    iterations: int
    ends: bool
    rounding: float

    def amplified(self, iterations: Any) -> Any:
        """The distance that rounding may have moved iterates."""
        return self.rounding * 10 ** (np.asarray(iterations) / 10)


class _State:
    """The problems that are still followed: numbers, points, values, gradients, and the last steps and changes."""

    def __init__(self, evaluate: Evaluate, start: FloatArray) -> None:
        self.at = np.arange(len(start))
        self.x = start
        self.value, self.gradient = evaluate(start, self.at)
        shape = len(start), _PAIRS, start.shape[1]
        self._steps, self._changes, self._inverses = np.empty(shape), np.empty(shape), np.empty(shape[:2])
        self._scale, self._taken = np.empty(len(start)), 0

    @property
    def first(self) -> bool:
        """True if there is no pair yet."""
        return self._taken == 0

    def keep(self, some: Any) -> None:
        """Forget the others."""
        if some.all():
            return
        self.at, self.x, self.value, self.gradient = (a[some] for a in (self.at, self.x, self.value, self.gradient))
        self._scale = self._scale[some]

    def direction(self) -> FloatArray:
        """Minus the inverse Hessian, approximated by the pairs, times the gradient."""
        out, at, amounts = -self.gradient, self.at, {}
        order = [taken % _PAIRS for taken in range(max(self._taken - _PAIRS, 0), self._taken)]
        for pair in reversed(order):
            amounts[pair] = self._inverses[at, pair] * _dot(self._steps[at, pair], out)
            out -= amounts[pair][:, None] * self._changes[at, pair]
        if order:
            out *= self._scale[:, None]
        for pair in order:
            rest = amounts[pair] - self._inverses[at, pair] * _dot(self._changes[at, pair], out)
            out += rest[:, None] * self._steps[at, pair]
        return out

    def add(self, step: FloatArray, change: FloatArray) -> FloatArray:
        """Take a pair in place of the oldest; the curvature along the step."""
        product, pair = _dot(step, change), self._taken % _PAIRS
        self._steps[self.at, pair], self._changes[self.at, pair] = step, change
        with np.errstate(divide="ignore", invalid="ignore"):
            self._inverses[self.at, pair] = 1 / product
            self._scale = product / _dot(change, change)
        self._taken += 1
        return product


def minimise(evaluate: Evaluate, start: FloatArray, rules: Rules) -> tuple[FloatArray, IntArray]:
    """Minimise from `start`, (problems, parameters); return the results and the numbers of steps, -1 if given up.

    ``evaluate(x, problems)`` gives the values and the gradients of these problems, by number, at the rows of x.
    """
    result, taken = start.copy(), np.full(len(start), -1)
    state = _State(evaluate, start)
    previous = np.full(len(start), np.inf)
    for iteration in range(rules.iterations + 1):
        steep = np.abs(state.gradient).max(axis=1)
        flat = steep <= rules.slope
        clear = np.abs(steep - rules.slope) > rules.amplified(iteration) * rules.slope
        if iteration:
            limit = rules.decrease * np.maximum(np.maximum(np.abs(previous), np.abs(state.value)), 1)
            clear &= flat | (np.abs(previous - state.value - limit) > _EPS)
            flat |= previous - state.value <= limit
        done = (flat | (rules.ends and iteration == rules.iterations)) & clear
        result[state.at[done]], taken[state.at[done]] = state.x[done], iteration
        state.keep(clear & ~done)
        if not len(state.at):
            break
        previous = _step(evaluate, state, rules.amplified(iteration))
    return result, taken


def _step(evaluate: Evaluate, state: _State, doubt: float) -> FloatArray:
    """Take one step; return the values before it."""
    direction = state.direction()
    slope = _dot(direction, state.gradient)
    first = state.first
    length = 1 / np.sqrt(_dot(direction, direction)) if first else np.ones(len(state.at))
    length, value, gradient, certain = _search(evaluate, state, direction, slope, length, doubt)
    step = length[:, None] * direction
    curvature = state.add(step, gradient - state.gradient)
    before = state.value
    state.x, state.value, state.gradient = state.x + step, value, gradient
    good = certain & (slope < 0) & (curvature > -1e-10 * slope * length)
    state.keep(good)
    return np.asarray(before[good])


def _search(
    evaluate: Evaluate, state: _State, direction: FloatArray, slope: FloatArray, length: FloatArray, doubt: float
) -> tuple[FloatArray, FloatArray, FloatArray, Any]:
    """Step lengths, the values and gradients there, and whether the search is over and certain."""
    value, gradient = evaluate(state.x + length[:, None] * direction, state.at)
    slopes = _dot(gradient, direction)
    # Most first trials are taken; the searches of the others go on one by one.
    taken = first_is_taken(state.value, slope, length, value, slopes, doubt)
    length, open_, searches = length.copy(), np.flatnonzero(~taken), {}
    for i in open_.tolist():
        searches[i] = LineSearch((float(state.value[i]), float(slope[i])), float(length[i]), doubt)
        searches[i].tell(float(value[i]), float(slopes[i]))
    for _ in range(_TRIALS):
        taken[[i for i in open_.tolist() if searches[i].done and not searches[i].doubtful]] = True
        open_ = np.array([i for i in open_.tolist() if not searches[i].done and not searches[i].doubtful], dtype=int)
        if not len(open_):
            break
        length[open_] = [searches[i].trial for i in open_.tolist()]
        x = state.x[open_] + length[open_, None] * direction[open_]
        value[open_], gradient[open_] = evaluate(x, state.at[open_])
        slopes[open_] = _dot(gradient[open_], direction[open_])
        for i in open_.tolist():
            searches[i].tell(float(value[i]), float(slopes[i]))
    return length, value, gradient, taken


def _dot(a: FloatArray, b: FloatArray) -> FloatArray:
    return np.asarray(np.einsum("pi,pi->p", a, b))
