"""Measures of counts by name, for two classes, several classes or several categories, and a user's own measures.

Counts have the categories along their last axis (`sigstats.measures.formulas.one_vs_rest`). A row has one *class*, but
any number of *categories*. `Measure` is what a caller passes and `as_measure` returns; `MeasureSpec` has the properties
of a name in `sigstats.measures.table`; `OwnMeasure` is a name that carries the properties of a user's measure.

When not to use: for costs, which `sigstats.measures.costs` has.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .._common.validation import FloatArray, as_choice, as_flag, did_you_mean, refuse
from .formulas import Confusion, checked_confusion, ratio
from .metrics import EXPECTED_COST, greater_is_better_of, is_made, parameters_in
from .own import imported, named, of_function, values_of
from .table import (
    BASE_COUNT_MEASURES,
    COUNT_MEASURES,
    MEASURES,
    MeasureSpec,
    OwnMeasure,
    base_of,
    in_our_words,
    is_of_counts,
)

#: Measures of two classes that the true negatives do not count for.
_WITHOUT_NEGATIVES = ("precision", "recall", "f1", "f-beta", "jaccard")
_NOTHING = np.zeros(())
#: Kinds of counts: two classes; several classes; several categories.
Kind: TypeAlias = Literal["binary", "classes", "categories"]


@dataclass(frozen=True, kw_only=True)
class Measure:
    """A measure that is ready to be applied to counts; `as_measure` makes one.

    Attributes
    ----------
    name : str
        One of ``sigstats.measures.table.COUNT_MEASURES``, one of an installed package, or the name of the user's
        function.
    greater_is_better : bool
        False for an error or a cost.
    parameters : tuple of (str, float)
        The values of keyword parameters, such as ``beta``.
    function : callable or None
        The user's function; None for a measure of this package.
    takes : {"counts", "classes", "numbers", "scores"}
        The arguments of the function: ``tp, fn, fp, tn``, or ``y, prediction, weights`` with the classes of each kind
        of row (numbers if all are), measurements, or 1 and 0 for the positive class and its score. Only comparisons
        take the latter three.

    Raises
    ------
    ValueError
        If the name or a parameter is unknown, a parameter is out of range, or `greater_is_better` contradicts the name.

    Examples
    --------
    >>> import sigstats
    >>> outcomes = sigstats.JointOutcomes(e1=40, e2=12, e3=5, e4=3, e5=2, e6=6, e7=9, e8=123)
    >>> measure = sigstats.Measure(name="f-beta", parameters=(("beta", 2.0),))
    >>> round(sigstats.bootstrap_test(outcomes, measure=measure, rng=1).estimate, 3)
    -0.107
    """

    name: str
    greater_is_better: bool = True
    parameters: tuple[tuple[str, float], ...] = ()
    function: Callable[..., Any] | None = None
    takes: Literal["counts", "classes", "numbers", "scores"] = "counts"

    def __post_init__(self) -> None:
        named = self.function is None
        as_choice(self.takes, "takes", ("counts",) if named else ("counts", "classes", "numbers", "scores"))
        as_flag(self.greater_is_better, "greater_is_better")
        if named:
            _check_named(self)
        elif not callable(self.function):
            raise refuse("function", self.function, "a function")
        elif not isinstance(self.name, str) or self.parameters != ():
            raise refuse("name, parameters", (self.name, self.parameters), "a string, and no parameters of a function")
        plain = tuple(
            (str(key), value.item() if isinstance(value, np.generic) else value) for key, value in self.parameters
        )
        values = {"name": str(self.name), "greater_is_better": bool(self.greater_is_better), "parameters": plain}
        for field, value in values.items():
            object.__setattr__(self, field, value)  # NumPy's scalars are no part of a record

    def __call__(self, tp: Any, fn: Any, fp: Any, tn: Any, *, kind: Kind = "binary", undefined: float = 0.0) -> Any:
        """Return the measure of counts, over their last axis unless `kind` is ``"binary"``, or raise ValueError."""
        as_choice(kind, "kind", ("binary", "classes", "categories"))
        counts = checked_confusion(tp, fn, fp, tn)
        if kind != "binary" and counts.tp.ndim == 0:
            raise refuse("tp", tp, "counts with the categories along the last axis")
        value = np.asarray(self.of(counts, kind, undefined=undefined))
        return float(value) if value.ndim == 0 else value

    def of(self, counts: Confusion, kind: Kind, *, undefined: float = 0.0) -> FloatArray:
        """Return the measure of float64 counts that are known to be valid, as in a bootstrap."""
        if self.function is not None:
            shape = counts.tp.shape if kind == "binary" else counts.tp.shape[:-1]
            return values_of(self.function, self.name, counts, shape)
        average, base = base_of(self.name)
        options = self._options(undefined)
        if average:
            return _average(average, MEASURES[base].of_counts, counts, kind, options)
        spec = MEASURES[self.name]
        formula = {"binary": spec.of_counts, "classes": spec.of_classes}.get(kind)
        if formula is None:
            known = [name for name in BASE_COUNT_MEASURES if kind == "classes" and MEASURES[name].of_classes]
            wanted = [f"micro-{self.name}", f"macro-{self.name}", *known]
            raise refuse("measure", self.name, f"for several {kind} one of {', '.join(wanted)}")
        return np.asarray(formula(*counts, **options), dtype=np.float64)

    def of_two_classes(self, *counts: FloatArray) -> FloatArray:
        """Return the measure of the four counts, without checks."""
        return self.of(Confusion(*counts), "binary")

    def mean_of_classes(self) -> "MeanOfClasses | None":
        """Return the measure class by class if it is a mean over classes; else None."""
        average, base = base_of(self.name) if self.function is None else ("", "")
        if average != "macro":
            return None
        return MeanOfClasses(MEASURES[base].of_counts, self._options(0.0), base not in _WITHOUT_NEGATIVES)

    def _options(self, undefined: float) -> dict[str, Any]:
        return {"undefined": undefined, **dict(self.parameters)}


def _average(average: str, core: Any, counts: Confusion, kind: Kind, options: dict[str, Any]) -> FloatArray:
    """Return a measure of two classes, averaged over categories, classes, or the two classes of a binary problem."""
    if kind == "binary":
        tp, fn, fp, tn = counts
        pairs = ((tp, tn), (fn, fp), (fp, fn), (tn, tp))
        counts = Confusion(*(np.moveaxis(np.stack(pair), 0, -1) for pair in pairs))
    if average == "micro":
        return np.asarray(core(*(count.sum(axis=-1) for count in counts), **options), dtype=np.float64)
    if average == "weighted":
        rows = counts.tp + counts.fn
        return ratio((core(*counts, **options) * rows).sum(axis=-1), rows.sum(axis=-1), options["undefined"])
    if kind == "categories":
        return np.asarray(core(*counts, **options).mean(axis=-1), dtype=np.float64)
    value, occurs = MeanOfClasses(core, options).value(counts)
    total = value.sum(axis=-1)
    if isinstance(occurs, bool):  # all classes occur in all tables
        return total / value.shape[-1]  # type: ignore[no-any-return]
    return ratio(total, occurs.sum(axis=-1), options["undefined"])


class OfClass(NamedTuple):
    """The contribution of one class to a mean over classes."""

    value: FloatArray
    #: Whether the class occurs in the truth: one value for all tables, or one for each table.
    occurs: "NDArray[np.bool_] | bool"


class MeanOfClasses(NamedTuple):
    """A mean over the classes that occur in the truth, computed class by class."""

    #: The measure of two classes, and its parameters.
    formula: Any
    options: dict[str, Any]
    #: True if the formula depends on the true negatives.
    of_negatives: bool = True

    def value(self, counts: Confusion, *, occurs: bool | None = None) -> OfClass:
        """Return the contribution of a class with these counts; `occurs`: known to occur in every table, or in none."""
        if occurs is False:
            return OfClass(_NOTHING, False)
        value = self.formula(*counts, **self.options)
        if occurs:
            return OfClass(value, True)
        somewhere = counts.tp + counts.fn > 0
        return OfClass(value, True) if somewhere.all() else OfClass(np.where(somewhere, value, 0.0), somewhere)

    def of(self, classes: Sequence[OfClass]) -> FloatArray:
        """Return the mean, the classes added one after the other."""
        values, occur = zip(*classes, strict=True)
        total, number = reduce(np.add, values), sum(occur)
        return total / number if isinstance(number, int) else ratio(total, number, self.options["undefined"])


def as_measure(
    measure: "str | Measure | Callable[..., Any]", *, greater_is_better: bool | None = None, **parameters: float
) -> Measure:
    """Find a measure by its name, or wrap a function of counts, or raise ValueError.

    `measure`: a name: ``accuracy``, ``error``, ``precision``, ``recall``, ``specificity``, ``balanced-accuracy``,
    ``f1``, ``f-beta``, ``jaccard``, ``mcc``, ``kappa`` and ``dcf``, each also after ``micro-`` (of the summed counts
    of all categories), ``macro-`` (the mean over categories; of classes, over those of the table's truth) and
    ``weighted-`` (by their rows in the truth), as in scikit-learn. For several classes ``accuracy``, ``error``,
    ``balanced-accuracy``, ``mcc`` (Gorodkin's R_K) and ``kappa`` need no average. Or a name that an installed package
    offers (entry points of the group ``sigstats.measures``), or ``expected-cost(fn=10,fp=1)``. A callable gets four
    float64 arrays ``tp, fn, fp, tn``, with the categories along the last axis if there are several, and returns one
    finite number for each table.
    `greater_is_better`: for a callable; False for a cost. By default its attribute of that name, or True.
    `parameters`: ``beta`` of ``f-beta``; ``cost_fn``, ``cost_fp`` and ``prior`` of ``dcf``.

    >>> as_measure("f-beta", beta=2)(30, 10, 20, 40)
    0.7142857142857143
    >>> as_measure("macro-recall")([3, 5, 0], [1, 0, 0], [0, 1, 0], [5, 3, 9], kind="classes")  # class 3 is not there
    0.875
    """
    if isinstance(measure, (Measure, str)):
        if greater_is_better is not None:
            raise refuse("greater_is_better", greater_is_better, "None, since the measure defines it")
        if isinstance(measure, OwnMeasure) and not is_made(measure):
            return Measure(name=str(measure), function=measure.spec.signed)
        if isinstance(measure, Measure):
            if parameters:
                raise refuse("parameters", parameters, "none, since the measure has its own")
            if measure.takes != "counts":
                raise refuse("measure", measure.name, "a measure of counts; only comparisons take measures of rows")
            return measure
        if is_made(measure):
            if not measure.startswith(EXPECTED_COST):
                base, values = parameters_in(measure)
                return as_measure(base, **values)
            spec = MEASURES[measure]
            return Measure(name=measure, greater_is_better=spec.greater_is_better, function=spec.of_counts)
        name = in_our_words(measure)
        greater = not is_of_counts(name) or MEASURES[name].greater_is_better
        checked = Measure(name=name, greater_is_better=greater, parameters=tuple(sorted(parameters.items())))
        return replace(checked, parameters=tuple((parameter, float(value)) for parameter, value in checked.parameters))
    if not callable(measure):
        raise refuse("measure", measure, "a name, a Measure or a function of tp, fn, fp, tn")
    if parameters:
        raise refuse("parameters", parameters, "none for a function (functools.partial binds them)")
    name = getattr(measure, "__name__", type(measure).__name__)
    greater = greater_is_better_of(str(name), measure) if greater_is_better is None else greater_is_better
    return Measure(name=str(name), greater_is_better=greater, function=measure)


def as_own_measure(measure: Any, allowed: Sequence[str] | None = None) -> OwnMeasure:
    """Return an `OwnMeasure` of a `Measure`, a function of labels, predictions and weights, or the import path of one.

    `allowed`: packages that may be imported; by default any.
    """
    path = measure if isinstance(measure, str) else ""
    measure = imported(path, allowed) if path else measure
    if not isinstance(measure, Measure):
        measure = replace(as_measure(measure), takes="classes")
    known: Any = {"name": path or measure.name, "unit": "own", "greater_is_better": measure.greater_is_better}
    if measure.function is None:
        values = ",".join(f"{key}={value:.15g}" for key, value in measure.parameters)
        stated = f"{measure.name}({values})"
        return OwnMeasure(MEASURES[stated] if is_made(stated) else _with_parameters(measure))
    if measure.name in MEASURES:
        raise refuse("measures", measure.name, "another name, since a measure has this one")
    if measure.takes == "counts":
        known |= {"needs": "classes", "of_counts": measure.of_two_classes}
    else:
        of_weights = partial(of_function, measure.function, measure.name)
        known |= {"needs": measure.takes, "of_weights": of_weights, "is_function": True}
    return OwnMeasure(MeasureSpec(**known))


def spec_named(name: str) -> MeasureSpec:
    """Return the properties of a measure with parameters in its name, as ``f-beta(beta=2)``, or raise ValueError."""
    return replace(_with_parameters(as_measure(name)), name=name)


def _with_parameters(measure: Measure) -> MeasureSpec:
    of_counts: Any = MEASURES[measure.name].of_counts
    return replace(MEASURES[measure.name], of_counts=partial(of_counts, **dict(measure.parameters)))


def _check_named(measure: Measure) -> None:
    name = measure.name
    if not is_of_counts(name):
        theirs = named(BASE_COUNT_MEASURES)
        hint = did_you_mean(name, (*COUNT_MEASURES, *theirs))
        known = ", ".join((*BASE_COUNT_MEASURES, *theirs))
        raise refuse("measure", name, f"one of {known}, or one of them after micro- or macro-{hint}")
    spec = MEASURES[name]
    if measure.greater_is_better != spec.greater_is_better:
        raise refuse("greater_is_better", measure.greater_is_better, f"{spec.greater_is_better} for {name}")
    try:
        parameters = {str(key): value for key, value in measure.parameters}
    except Exception:  # a user's object may raise anything
        raise refuse("parameters", measure.parameters, "pairs of a name and a value") from None
    for parameter in parameters:
        if parameter not in spec.parameters:
            raise refuse(f"{name} (parameter)", parameter, f"one of {', '.join(spec.parameters) or 'none'}")
    formula: Any = spec.of_counts
    formula(*np.zeros((4, 1)), **parameters)  # refuses values out of range
