"""Measures by name, for two classes, several classes or several categories, and a user's own.

The counts of several categories have the categories along their last axis (`one_vs_rest`). A *class* is one of
several of which each observation has exactly one; a *category* is one of several of which it may have any number.

When not to use: a measure that needs more than each category's four counts (a full cost matrix, exact matches of sets
of categories) is none of these; `sigstats.bootstrap.replicates.bootstrap_statistic` takes any statistic of counts.
"""

# ruff: noqa: ARG001 (every measure takes all four counts, so that any can stand for any other)

import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np

from .._common.validation import FloatArray, as_choice, as_counts, nearest, one_line, refuse
from . import formulas as measures
from .formulas import Confusion, checked_confusion, ratio

Average: TypeAlias = Literal["none", "micro", "macro"]

#: What the counts are of: two classes; several classes; several categories.
Kind: TypeAlias = Literal["binary", "classes", "categories"]


def _classes_accuracy(tp: Any, fn: Any, fp: Any, tn: Any, *, undefined: float = 0.0) -> FloatArray:
    return ratio(tp.sum(-1), (tp + fn).sum(-1), undefined)


def _classes_error(tp: Any, fn: Any, fp: Any, tn: Any, *, undefined: float = 0.0) -> FloatArray:
    return ratio(fn.sum(-1), (tp + fn).sum(-1), undefined)


def _classes_balanced_accuracy(tp: Any, fn: Any, fp: Any, tn: Any, *, undefined: float = 0.0) -> FloatArray:
    return ratio(ratio(tp, tp + fn, 0.0).sum(-1), (tp + fn > 0).sum(-1).astype(np.float64), undefined)


def _classes_mcc(tp: Any, fn: Any, fp: Any, tn: Any, *, undefined: float = 0.0) -> FloatArray:
    """Gorodkin's (2004) R_K: the correlation of the true and the assigned class, each as K indicators."""
    true, assigned, n = tp + fn, tp + fp, (tp + fn).sum(-1)
    covariance = n * tp.sum(-1) - (true * assigned).sum(-1)
    scale = np.sqrt(n**2 - (true**2).sum(-1)) * np.sqrt(n**2 - (assigned**2).sum(-1))
    return ratio(covariance, scale, undefined)


def _classes_kappa(tp: Any, fn: Any, fp: Any, tn: Any, *, undefined: float = 0.0) -> FloatArray:
    n = (tp + fn).sum(-1)
    by_chance = ((tp + fn) * (tp + fp)).sum(-1)
    return ratio(n * tp.sum(-1) - by_chance, n**2 - by_chance, undefined)


_Core: TypeAlias = Callable[..., Any]

_BINARY: dict[str, _Core] = {
    "accuracy": measures.accuracy,
    "error": measures.error,
    "precision": measures.precision,
    "recall": measures.recall,
    "specificity": measures.specificity,
    "balanced-accuracy": measures.balanced_accuracy,
    "f1": measures.f1,
    "f-beta": measures.f_beta,
    "jaccard": measures.jaccard,
    "mcc": measures.mcc,
    "kappa": measures.kappa,
    "dcf": measures.dcf,
}

_CLASSES: dict[str, _Core] = {
    "accuracy": _classes_accuracy,
    "error": _classes_error,
    "balanced-accuracy": _classes_balanced_accuracy,
    "mcc": _classes_mcc,
    "kappa": _classes_kappa,
}

_LESS_IS_BETTER = frozenset({"error", "dcf"})

#: Every name that `as_measure` knows.
MEASURES: tuple[str, ...] = (*_BINARY, *(f"{average}-{name}" for average in ("micro", "macro") for name in _BINARY))


@dataclass(frozen=True, kw_only=True)
class Measure:
    """A measure that is ready to be applied to counts; `as_measure` makes one.

    Attributes
    ----------
    name : str
        One of `MEASURES`, or the name of the user's function.
    greater_is_better : bool
        False for an error or a cost.
    parameters : tuple of (str, float)
        The values of keyword parameters, such as ``beta``.
    function : callable or None
        The user's function; None for a measure of this package.

    Raises
    ------
    ValueError
        If the name or a parameter is unknown, a parameter is out of range, or `greater_is_better` is not what it is
        for the named measure.
    """

    name: str
    greater_is_better: bool = True
    parameters: tuple[tuple[str, float], ...] = ()
    function: Callable[..., Any] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.greater_is_better, (bool, np.bool_)):
            raise refuse("greater_is_better", self.greater_is_better, "True or False")
        if self.function is None:
            _check_named(self)
        elif not callable(self.function):
            raise refuse("function", self.function, "a function of tp, fn, fp, tn")
        elif not isinstance(self.name, str) or self.parameters != ():
            raise refuse("name, parameters", (self.name, self.parameters), "a string, and no parameters of a function")

    def __call__(self, tp: Any, fn: Any, fp: Any, tn: Any, *, kind: Kind = "binary", undefined: float = 0.0) -> Any:
        """The measure of counts, over their last axis where `kind` is not ``"binary"``.

        Raises
        ------
        ValueError
            If a count is negative or fractional, or the measure has no meaning for this `kind` of counts.
        """
        as_choice(kind, "kind", ("binary", "classes", "categories"))
        counts = checked_confusion(tp, fn, fp, tn)
        if kind != "binary" and counts.tp.ndim == 0:
            raise refuse("tp", tp, "counts with the categories along the last axis")
        value = np.asarray(self.of(counts, kind, undefined=undefined))
        return float(value) if value.ndim == 0 else value

    def of(self, counts: Confusion, kind: Kind, *, undefined: float = 0.0) -> FloatArray:
        """The measure of float64 counts that are known to be good; what a bootstrap calls."""
        if self.function is not None:
            return self._user(counts, kind)
        average, _, base = self.name.partition("-")
        if average in ("micro", "macro"):
            core = inspect.unwrap(_BINARY[base])
            if kind == "binary":  # an average over the two classes
                tp, fn, fp, tn = counts
                pairs = ((tp, tn), (fn, fp), (fp, fn), (tn, tp))
                counts = Confusion(*(np.stack(pair, axis=-1) for pair in pairs))
            if average == "micro":
                counts = Confusion(*(each.sum(axis=-1) for each in counts))
            value = np.asarray(core(*counts, undefined=undefined, **dict(self.parameters)), dtype=np.float64)
            return value if average == "micro" else _mean_over_categories(value, counts, kind, undefined)
        known = _BINARY if kind == "binary" else _CLASSES if kind == "classes" else {}
        if self.name not in known:
            wanted = [f"micro-{self.name}", f"macro-{self.name}", *known]
            raise refuse("measure", self.name, f"for several {kind} one of {', '.join(wanted)}")
        core = inspect.unwrap(known[self.name])
        return np.asarray(core(*counts, undefined=undefined, **dict(self.parameters)), dtype=np.float64)

    def _user(self, counts: Confusion, kind: Kind) -> FloatArray:
        shape = counts.tp.shape if kind == "binary" else counts.tp.shape[:-1]
        wanted = f"a function of arrays tp, fn, fp, tn of shape {counts.tp.shape} that gives numbers of shape {shape}"
        assert self.function is not None
        try:
            with np.errstate(all="ignore"):
                value = np.asarray(self.function(*counts), dtype=np.float64)
        except Exception as error:  # whatever a user's function may raise
            raise ValueError(f"measure: {self.name} failed: {one_line(error)}; expected {wanted}") from error
        if value.shape != shape:
            raise refuse(f"measure (shape of {self.name}'s result)", value.shape, wanted)
        bad = ~np.isfinite(value)
        if bad.any():
            first = [int(each[bad][0] if kind == "binary" else each[bad][0].sum()) for each in counts]
            found = f"{value[bad].flat[0]} for (tp, fn, fp, tn) = {tuple(first)}"
            raise refuse(f"measure ({self.name})", found, "finite numbers, also for 0/0")
        return value


def _mean_over_categories(value: FloatArray, counts: Confusion, kind: Kind, undefined: float) -> FloatArray:
    if kind == "categories":
        return np.asarray(value.mean(axis=-1), dtype=np.float64)
    # A class that nobody has and nobody is given is not in the table at all.
    occurs = counts.tp + counts.fn + counts.fp > 0
    return ratio(np.where(occurs, value, 0.0).sum(axis=-1), occurs.sum(axis=-1).astype(np.float64), undefined)


def as_measure(
    measure: "str | Measure | Callable[..., Any]",
    *,
    greater_is_better: bool | None = None,
    **parameters: float,
) -> Measure:
    """Find a measure by its name, or wrap a function of counts.

    Parameters
    ----------
    measure : str, Measure or callable
        A name: ``accuracy``, ``error``, ``precision``, ``recall``, ``specificity``, ``balanced-accuracy``, ``f1``,
        ``f-beta``, ``jaccard``, ``mcc``, ``kappa`` and ``dcf``, each also after ``micro-`` (of the summed counts of
        all categories) and ``macro-`` (the mean over categories; of classes, over those that the table's truth or its
        predictions have, as in scikit-learn). For several classes ``accuracy``, ``error``, ``balanced-accuracy``,
        ``mcc`` (Gorodkin's R_K) and ``kappa`` need no average. A callable gets four float64 arrays ``tp, fn, fp,
        tn``, with the categories along the last axis if there are several, and returns one finite number for each
        table.
    greater_is_better : bool, optional
        For a callable; False says that it is a cost.
    **parameters : float
        ``beta`` of ``f-beta``; ``cost_fn``, ``cost_fp`` and ``prior`` of ``dcf``.

    Returns
    -------
    Measure

    Raises
    ------
    ValueError
        If the name or a parameter is unknown, or a parameter is out of range.

    Examples
    --------
    >>> from sigstats.measures.measure import as_measure
    >>> as_measure("f-beta", beta=2)(30, 10, 20, 40)
    0.7142857142857143
    >>> as_measure("macro-recall")([3, 5], [1, 0], [0, 1], [5, 3], kind="classes")
    0.875
    >>> as_measure("macro-recall")([3, 5, 0], [1, 0, 0], [0, 1, 0], [5, 3, 9], kind="classes")  # class 3 is not there
    0.875
    >>> def missed(tp, fn, fp, tn):
    ...     return fn
    >>> as_measure(missed, greater_is_better=False)(30, 10, 20, 40)
    10.0
    """
    if greater_is_better is not None and not isinstance(greater_is_better, (bool, np.bool_)):
        raise refuse("greater_is_better", greater_is_better, "True, False or None")
    if isinstance(measure, (Measure, str)):
        if greater_is_better is not None:
            raise refuse("greater_is_better", greater_is_better, "None, for the measure itself says so")
        if isinstance(measure, Measure):
            if parameters:
                raise refuse("parameters", parameters, "none, for the measure has its own")
            return measure
        return _named(measure, parameters)
    if not callable(measure):
        raise refuse("measure", measure, "a name, a Measure or a function of tp, fn, fp, tn")
    if parameters:
        raise refuse("parameters", parameters, "none for a function (functools.partial binds them)")
    name = getattr(measure, "__name__", type(measure).__name__)
    return Measure(name=str(name), greater_is_better=greater_is_better is not False, function=measure)


def _named(name: str, parameters: dict[str, float]) -> Measure:
    greater_is_better = _base(name) not in _LESS_IS_BETTER
    checked = Measure(name=name, greater_is_better=greater_is_better, parameters=tuple(sorted(parameters.items())))
    return replace(checked, parameters=tuple((each, float(value)) for each, value in checked.parameters))


def _base(name: str) -> str:
    return name.removeprefix("micro-").removeprefix("macro-")


def _check_named(measure: Measure) -> None:
    name = measure.name
    if not isinstance(name, str) or name not in MEASURES:
        near = nearest(name, MEASURES)
        hint = f" (did you mean {near!r}?)" if near else ""
        raise refuse("measure", name, f"one of {', '.join(_BINARY)}, or one of them after micro- or macro-{hint}")
    better = _base(name) not in _LESS_IS_BETTER
    if measure.greater_is_better != better:
        raise refuse("greater_is_better", measure.greater_is_better, f"{better} for {name}")
    core = inspect.unwrap(_BINARY[_base(name)])
    known = [each for each in inspect.signature(core).parameters if each not in (*Confusion._fields, "undefined")]
    try:
        parameters = {str(key): value for key, value in measure.parameters}
    except Exception:  # a user's object may raise anything
        raise refuse("parameters", measure.parameters, "pairs of a name and a value") from None
    for parameter in parameters:
        if parameter not in known:
            raise refuse(f"{name} (parameter)", parameter, f"one of {', '.join(known) or 'none'}")
    core(*np.zeros((4, 1)), **parameters)  # refuses values out of range


def one_vs_rest(table: Any) -> Confusion:
    """The four counts of each class of a square table against all others.

    Parameters
    ----------
    table : array_like of int, shape (..., K, K)
        Counts with the true classes in rows.

    Returns
    -------
    Confusion
        Four int64 arrays of shape (..., K).

    Raises
    ------
    ValueError
        If the table is not square, or a count is negative or fractional.

    Examples
    --------
    >>> from sigstats.measures.measure import as_measure, one_vs_rest
    >>> counts = one_vs_rest([[9, 7, 3], [15, 17, 13], [3, 7, 28]])
    >>> counts.tp.tolist(), counts.fp.tolist()
    ([9, 17, 28], [18, 14, 16])
    >>> round(as_measure("kappa")(*counts, kind="classes"), 12)
    0.282532239156
    """
    counts = as_counts(table, "table")
    if counts.ndim < 2 or counts.shape[-1] != counts.shape[-2]:
        raise refuse("table (shape)", counts.shape, "a square table of counts, true classes in rows")
    tp = np.diagonal(counts, axis1=-2, axis2=-1)
    rows, columns, n = counts.sum(axis=-1), counts.sum(axis=-2), counts.sum(axis=(-2, -1))[..., None]
    return Confusion(tp, rows - tp, columns - tp, n - rows - columns + tp)
