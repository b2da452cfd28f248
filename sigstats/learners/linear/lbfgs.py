"""The iterates of L-BFGS-B without bounds, for many problems at once.

Where a tolerance stops a minimiser, the result depends on the way. The way is followed here: the same directions from
the last ten steps (Byrd, Lu, Nocedal and Zhu 1995), the same line search and the same rules to stop. Sums are rounded
otherwise, which moves the iterates as rounding the data would. A problem of which rounding could change a decision,
or that needs what is left out here (restarts, pairs without curvature), is given up.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from sigstats._common.validation import FloatArray, IntArray

from .line_search import LineSearch, first_is_taken

Evaluate = Callable[[FloatArray, IntArray], tuple[FloatArray, FloatArray]]

_PAIRS: Final = 10
_TRIALS: Final = 20
_EPS: Final = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Rules:
    """When to stop: the largest slope, the smallest relative decrease, and the most iterations.

    After these a problem ends where it is (`ends`), or is given up. Rounding moves an iterate by `rounding` at most in
    the first steps, and by ten times more in each ten steps that follow.
    """

    slope: float
    decrease: float
    iterations: int
    ends: bool
    rounding: float

    def amplified(self, iterations: Any) -> Any:
        """The distance by which rounding may have moved iterates."""
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
        """True if there is no pair as yet."""
        return self._taken == 0

    def keep(self, some: Any) -> None:
        """Forget the others."""
        if some.all():
            return
        self.at, self.x, self.value, self.gradient = (a[some] for a in (self.at, self.x, self.value, self.gradient))
        self._scale = self._scale[some]

    def direction(self) -> FloatArray:
        """Minus the inverse Hessian, as the pairs have it, times the gradient."""
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
    """Minimise from `start`, (problems, parameters): the results, and the steps that led there, -1 if given up.

    ``evaluate(x, problems)`` gives the values and the gradients, at a row of x each, of the problems numbered so.
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
            clear &= flat | (np.abs(previous - state.value - limit) > 4 * _EPS)
            flat |= previous - state.value <= limit
        done = (flat | (rules.ends and iteration == rules.iterations)) & clear
        result[state.at[done]], taken[state.at[done]] = state.x[done], iteration
        state.keep(clear & ~done)
        if not len(state.at):
            break
        previous = _step(evaluate, state, rules.amplified(iteration))
    return result, taken


def _step(evaluate: Evaluate, state: _State, doubt: float) -> FloatArray:
    """Go one step; the values before it."""
    direction = state.direction()
    slope = _dot(direction, state.gradient)
    first = state.first
    length = 1 / np.sqrt(_dot(direction, direction)) if first else np.ones(len(state.at))
    length, value, gradient, found = _search(evaluate, state, direction, slope, length, doubt)
    step = length[:, None] * direction
    curvature = state.add(step, gradient - state.gradient)
    before = state.value
    state.x, state.value, state.gradient = state.x + step, value, gradient
    good = found & (slope < 0) & (curvature > -1e-10 * slope * length)
    state.keep(good)
    left: FloatArray = before[good]
    return left


def _search(
    evaluate: Evaluate, state: _State, direction: FloatArray, slope: FloatArray, length: FloatArray, doubt: float
) -> tuple[FloatArray, FloatArray, FloatArray, Any]:
    """Step lengths, the values and gradients there, and where the search is over and in no doubt."""
    value, gradient = evaluate(state.x + length[:, None] * direction, state.at)
    slopes = _dot(gradient, direction)
    # Most first trials are taken; the searches of the others go on one by one.
    found = first_is_taken(state.value, slope, length, value, slopes, doubt)
    length, open_, searches = length.copy(), np.flatnonzero(~found), {}
    for i in open_.tolist():
        searches[i] = LineSearch((float(state.value[i]), float(slope[i])), float(length[i]), doubt)
        searches[i].tell(float(value[i]), float(slopes[i]))
    for _ in range(_TRIALS):
        found[[i for i in open_.tolist() if searches[i].done and not searches[i].doubtful]] = True
        open_ = np.array([i for i in open_.tolist() if not searches[i].done and not searches[i].doubtful], dtype=int)
        if not len(open_):
            break
        length[open_] = [searches[i].trial for i in open_.tolist()]
        x = state.x[open_] + length[open_, None] * direction[open_]
        value[open_], gradient[open_] = evaluate(x, state.at[open_])
        slopes[open_] = _dot(gradient[open_], direction[open_])
        for i in open_.tolist():
            searches[i].tell(float(value[i]), float(slopes[i]))
    return length, value, gradient, found


def _dot(a: FloatArray, b: FloatArray) -> FloatArray:
    return np.asarray(np.einsum("pi,pi->p", a, b))
