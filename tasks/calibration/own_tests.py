"""Tests from other packages, applied to test sets from a population: their import, their calls and their fan-out.

Such a test is a function of the labels, the predictions of A and the predictions of B. It returns a p-value, or a
result with an attribute ``pvalue``, as in SciPy. Test sets come from the stream of
`sigstats.tasks.calibration.subsample`, so that all tests are given the same ones.
"""

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sigstats._common.messages import nearest, one_line, raised, refuse
from sigstats._common.registry import Offered

from ..own_code import fit, require_as_planned
from ..plan import Block
from ..schema import column
from ..storage.store import Store
from . import subsample
from .population import EIGHT, EventPopulation
from .populations.tests import Answers, AnyPopulation, advantage
from .subsample import LANE_SIZE, Lanes
from .work import OnTestSets

_TESTS = Offered("sigstats.tests", "test")

_WANTED = "the import path of a function of labels and two predictions, as in 'mypackage:my_test'"

#: The approximate number of rows that a vectorised test is given in one call.
_ROWS_AT_ONCE = 2**22


def named() -> tuple[str, ...]:
    """Return the names of the tests that installed packages offer."""
    return _TESTS.named()


def find(name: str, allowed: Sequence[str]) -> Callable[..., Any]:
    """Return the function with an import path or the name of an entry point. Only `allowed` packages are imported."""
    if not {".", ":"} & set(name) and name not in named():
        near = nearest(name, named())
        raise refuse("test", name, _WANTED + (f" (did you mean {near!r}?)" if near else ""))
    result = _TESTS.find(name, allowed)
    if not callable(result) or inspect.isclass(result):
        raise refuse("test", name, _WANTED)
    return result  # type: ignore[no-any-return]


def code_of(name: str, allowed: Sequence[str]) -> dict[str, str]:
    """Return the identity of the code of a test, in the form of `Offered.code_of`."""
    find(name, allowed)
    return _TESTS.code_of(name)


def check_call(name: str, params: Mapping[str, Any], allowed: Sequence[str]) -> None:
    """Raise ValueError if a test cannot be called with labels, two predictions and these parameters."""
    value = find(name, allowed)
    try:
        inspect.signature(value).bind(None, None, None, **params, **_generator_of(value, None))
    except TypeError as error:
        wanted = "one that can be called with labels, two predictions"
        raise refuse("test", name, f"{wanted}{' and params' if params else ''}; {one_line(error)}") from None
    except ValueError:  # functions written in C may have no signature
        return


def run_own_test(
    function: Callable[..., Any],
    options: Mapping[str, Any],
    drawn: NDArray[np.int64],
    population: AnyPopulation,
    rng: np.random.Generator,
) -> tuple[NDArray[np.float64], list[str | None]]:
    """Call a test on each test set, or on many test sets at once if it is vectorised.

    Returns the p-values, NaN if undefined, and for each test set the reason, or None. The rows of a test set are in
    random order. A function with a parameter ``rng`` gets a generator; global generators are seeded before each call.

    `drawn` (ndarray of int64, shape (m, J)): test sets from `population`.
    """
    answers, vectorised = _answers(population), options["vectorised"]
    seeds = rng.integers(2**32, size=len(drawn)).tolist()
    at_once = max(1, _ROWS_AT_ONCE // int(drawn[0].sum())) if vectorised else 1
    p_values: list[float] = []
    problems: list[str | None] = []
    for first in range(0, len(drawn), at_once):
        sets, seed = drawn[first : first + at_once], seeds[first]
        own_rng = np.random.default_rng(seed)
        events = np.repeat(np.tile(np.arange(sets.shape[1]), len(sets)), sets.ravel()).reshape(len(sets), -1)
        events = own_rng.permuted(events, axis=1)
        columns = [side[events if vectorised else events[0]] for side in answers]
        try:
            with fit(seed):
                result = function(*columns, **_generator_of(function, own_rng), **options["params"])
                items = _p_values(result, len(sets))
        except Exception as error:  # a test may raise anything
            p_values.extend([math.nan] * len(sets))
            problems.extend([raised(error)[:200]] * len(sets))
        else:
            reasons = [_wrong(p) for p in items]
            p_values.extend(math.nan if wrong else p for p, wrong in zip(items, reasons, strict=True))
            problems.extend(reasons)
    return np.array(p_values, dtype=np.float64), problems


def _p_values(result: Any, n_sets: int) -> list[float]:
    p_values = getattr(result, "pvalue", result)
    if isinstance(p_values, np.ma.MaskedArray):  # a mask may hide any number
        p_values = np.where(np.ma.getmaskarray(p_values), np.nan, np.ma.getdata(p_values))
    values = np.asarray(p_values)
    if values.dtype.kind in "bSU" or any(part is None or isinstance(part, str | bytes | bool) for part in values.flat):
        raise ValueError("it did not return a number")
    values = values.astype(np.float64)
    if values.size != n_sets:
        raise ValueError(f"it returned {values.size} p-values for {n_sets} test {'set' if n_sets == 1 else 'sets'}")
    return [float(p) for p in values.ravel()]


def _wrong(p: float) -> str | None:
    """Return the reason why a result is not a valid p-value, or None if it is valid."""
    if math.isnan(p):
        return "p is NaN"
    return None if 0 <= p <= 1 else "p is not between 0 and 1"


def _generator_of(function: Callable[..., Any], rng: np.random.Generator | None) -> dict[str, Any]:
    """Return the generator as the keyword argument ``rng`` if a function takes one, or no arguments."""
    try:
        return {"rng": rng} if "rng" in inspect.signature(function).parameters else {}
    except ValueError:
        return {}


def _answers(population: AnyPopulation) -> list[NDArray[Any]]:
    """Return the labels and the answers of A and of B for each joint event: class codes, or 0 and 1 per category."""
    if not isinstance(population, EventPopulation):
        return list(EIGHT.T)
    joint = population.shape
    sides = zip(*joint.events, strict=True)
    if joint.kind == "classes":
        return [np.array([code for (code,) in side]) for side in sides]
    indicators = []
    for side in sides:
        matrix = np.zeros((len(joint.events), len(joint.categories)), dtype=np.int64)
        for row, positions in zip(matrix, side, strict=True):
            row[list(positions)] = 1
        indicators.append(matrix)
    return indicators


_SCHEMA = subsample.SCHEMA.append(
    column("problem", pa.string(), "", "why the p-value is undefined (NaN); null where it is not", nullable=True)
)


def _compute(block: Block, store: Store, work: OnTestSets) -> pa.Table:
    test = work.test
    assert test.code is not None
    name, allowed = test.test, (test.code["package"],)
    require_as_planned(name, test.code, partial(code_of, name, allowed))
    function = find(name, allowed)
    problems: list[str | None] = []

    def answer(work: OnTestSets, drawn_from: Any, lanes: Lanes) -> subsample.Answered:
        ((rng, size),) = lanes
        drawn = drawn_from.draw(work.n, rng, LANE_SIZE)[:size]
        values, why = run_own_test(function, test.options, drawn, drawn_from, rng)
        problems.extend(why)
        answers = Answers(values, problem=f"p is undefined in the first {size} test sets ({why[0]})")
        return answers, advantage(test, drawn, drawn_from), drawn_from.lacking(drawn)

    table = subsample.results_of_block(block, store, work, answer)
    return table.append_column(_SCHEMA.field("problem"), pa.array(problems, pa.string()))


FAN_OUT = replace(
    subsample.FAN_OUT,
    about="A test of another package on test sets from a population: p-values, and reasons for undefined ones.",
    version=1,
    revision=lambda work: 0,
    schema=_SCHEMA,
    compute=_compute,
    own_code=lambda work: {"learner": work.test.test, **(work.test.code or {})},
)
