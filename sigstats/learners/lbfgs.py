"""The iterates of L-BFGS-B without bounds, for many problems at once: `minimise`.

scikit-learn's logistic regression is minimised by SciPy's L-BFGS-B. The same iterates are computed here, except for
rounding; a problem whose path rounding could change is given up. All problems take a step together (`_step`). Most line
searches along the steps end with their first trial. The others continue with SciPy's port of More and Thuente's (1994)
search, which is not public: without it nothing is minimised here (`available`).

In comparisons that decide a path, `doubt` is the relative distance that rounding may have moved both sides.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, cast

import numpy as np

from .._common.validation import FloatArray, IntArray

try:
    from scipy.optimize._dcsrch import DCSRCH
except ImportError:
    available = False
else:
    available = hasattr(DCSRCH, "_iterate")

#: The number of pairs of a step and a change of the gradient that are kept, and of trials in a search.
_PAIRS: Final = 10
_TRIALS: Final = 20
#: The shares of the first slope by which a taken trial must lower the value, and to which it must flatten the slope;
#: a bracket narrower than the third number ends the search.
_DECREASE, _CURVATURE, _WIDTH = 1e-3, 0.9, 0.1
#: The longest step.
_LONGEST: Final = 1e10
#: The relative rounding error of a value.
_EPS: Final = 4 * float(np.finfo(np.float64).eps)

#: Returns values and gradients at points (rows); there is one point for each of these problems, by number.
Evaluate = Callable[[FloatArray, IntArray], tuple[FloatArray, FloatArray]]


@dataclass(frozen=True)
class Rules:
    """The rules by which a problem ends, and the bound on rounding by which it is given up."""

    #: The largest slope, and the relative decrease of the value, at which a problem ends.
    slope: float
    decrease: float
    #: The most iterations; then a problem ends where it is if `ends` is true, and is otherwise given up.
    iterations: int
    ends: bool
    #: Rounding moves an iterate by at most this in the first steps, and by ten times more in every further ten steps.
    rounding: float

    def amplified(self, iterations: Any) -> Any:
        """Return the distance that rounding may have moved iterates."""
        return self.rounding * 10 ** (np.asarray(iterations) / 10)


def minimise(evaluate: Evaluate, start: FloatArray, rules: Rules) -> tuple[FloatArray, IntArray]:
    """Minimise from `start`, (problems, parameters); return the results and the numbers of steps, -1 if given up."""
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


class _State:
    """The problems that are still followed: numbers, points, values, gradients, and the last steps and changes."""

    def __init__(self, evaluate: Evaluate, start: FloatArray) -> None:
        self.at = np.arange(len(start))
        self.x = start
        self.value, self.gradient = evaluate(start, self.at)
        shape = len(start), _PAIRS, start.shape[1]
        self._steps, self._changes, self._inverses = np.empty(shape), np.empty(shape), np.empty(shape[:2])
        self._scale = np.empty(len(start))
        self.steps_taken = 0

    def keep(self, some: Any) -> None:
        """Keep only the selected problems."""
        if some.all():
            return
        self.at, self.x, self.value, self.gradient = (a[some] for a in (self.at, self.x, self.value, self.gradient))
        self._scale = self._scale[some]

    def direction(self) -> FloatArray:
        """Return minus the inverse Hessian, approximated by the pairs, times the gradient."""
        out, at, amounts = -self.gradient, self.at, {}  # the two loops of Nocedal (1980)
        order = [taken % _PAIRS for taken in range(max(self.steps_taken - _PAIRS, 0), self.steps_taken)]
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
        """Replace the oldest pair by a new one; return the curvature along the step."""
        product, pair = _dot(step, change), self.steps_taken % _PAIRS
        self._steps[self.at, pair], self._changes[self.at, pair] = step, change
        with np.errstate(divide="ignore", invalid="ignore"):
            self._inverses[self.at, pair] = 1 / product
            self._scale = product / _dot(change, change)
        self.steps_taken += 1
        return product


def _step(evaluate: Evaluate, state: _State, doubt: float) -> FloatArray:
    """Take one step; return the values before it."""
    direction = state.direction()
    slope = _dot(direction, state.gradient)
    length = np.ones(len(state.at)) if state.steps_taken else 1 / np.sqrt(_dot(direction, direction))
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
    """Return step lengths, the values and gradients there, and whether the search is over and certain."""
    value, gradient = evaluate(state.x + length[:, None] * direction, state.at)
    slopes = _dot(gradient, direction)
    taken = _first_is_taken(state.value, slope, length, value, slopes, doubt)
    # The other searches continue, by problem; each has its own trials.
    length, searches = length.copy(), {}
    for i in np.flatnonzero(~taken).tolist():
        searches[i] = _LineSearch((float(state.value[i]), float(slope[i])), float(length[i]), doubt)
        searches[i].report(float(value[i]), float(slopes[i]))
    for _ in range(_TRIALS):
        taken[[i for i, search in searches.items() if search.done]] = True
        searches = {i: search for i, search in searches.items() if not (search.done or search.doubtful)}
        if not searches:
            break
        open_ = [*searches]
        length[open_] = [search.trial for search in searches.values()]
        x = state.x[open_] + length[open_, None] * direction[open_]
        value[open_], gradient[open_] = evaluate(x, state.at[open_])
        slopes[open_] = _dot(gradient[open_], direction[open_])
        for i, search in searches.items():
            search.report(float(value[i]), float(slopes[i]))
    return length, value, gradient, taken


def _first_is_taken(start: Any, decline: Any, trial: Any, value: Any, slope: Any, doubt: float) -> Any:
    """Return True if a search ends with its first trial, for arrays of searches; False if it is in doubt."""
    spare = start + trial * _DECREASE * decline - value
    enough = spare > _EPS * np.maximum(np.abs(value), np.abs(start)) - doubt * trial * decline
    return enough & (np.abs(slope) < (1 - doubt) * -_CURVATURE * decline)


class _LineSearch:
    """A search along a direction from a value and a slope there; `trial` is the next step length."""

    def __init__(self, start: tuple[float, float], trial: float, doubt: float) -> None:
        self.trial, self._start, self._doubt = trial, start, doubt
        self._search: Any = cast(Any, DCSRCH)(None, None, _DECREASE, _CURVATURE, _WIDTH, 0.0, _LONGEST)
        self._task = self._search._iterate(trial, *start, b"START")[3]
        #: True if the last trial ends the search.
        self.done = False
        #: True if rounding could have decided otherwise, or the direction leads up; the search then ends, too.
        self.doubtful = self._task != b"FG"

    def report(self, value: float, slope: float) -> None:
        """Use the value and the slope at the trial: accept it, or choose another trial."""
        first, decline = self._start
        steepest, fall = -_CURVATURE * decline, self.trial * decline
        apart = abs(value - first - _DECREASE * fall)
        self.doubtful |= abs(abs(slope) - steepest) <= self._doubt * steepest
        self.doubtful |= apart <= _EPS * max(abs(value), abs(first)) - self._doubt * fall
        if not self.doubtful:
            self.trial, _, _, self._task = self._search._iterate(self.trial, value, slope, self._task)
            self.done = self._task != b"FG"


def _dot(a: FloatArray, b: FloatArray) -> FloatArray:
    return np.asarray(np.einsum("pi,pi->p", a, b))
