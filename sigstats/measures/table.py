"""The table of measures: the inputs, unit, better direction, test and formula of each measure.

A new measure is one entry of `_BASE` and its formula: `sigstats.measures.measure.as_measure`, the comparison, the
studies and the report find it here.
"""

import importlib
import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, Self, TypeAlias

import numpy as np

from .._common.validation import FloatArray, Limits
from . import formulas, own, score_formulas, weighted
from .formulas import Confusion
from .metrics import MADE, is_made, synonym_of

#: Inputs: right or wrong answers; several answers per item; labels and predictions; both as numbers; scores whose order
#: counts; probabilities of one class; tables of probabilities of all classes; any number per row.
Needs: TypeAlias = Literal[
    "answers", "repeated answers", "classes", "numbers", "scores", "probabilities", "tables", "marks"
]
#: A share of rows; another number of at most 1, whose differences are counted in points; a unit of the measure's own.
Unit: TypeAlias = Literal["share", "points", "own"]
#: The paired tests: McNemar's, and the bounds that one more row does not undo, of counts, of areas and of means;
#: exchanges of ratios of sums.
PairedTest: TypeAlias = Literal["mcnemar", "counts", "areas", "means", "ratios", "quantile"]

_PASS_AT = re.compile(r"pass[@^][1-9]\d{0,3}")
#: Names such as ``top-5-accuracy``: the share of rows with a true class among the 5 most probable ones.
TOP = re.compile(r"top-([1-9]\d{0,2})-accuracy")
_QUANTILE = re.compile(r"p(?!0+$)\d\d(\.\d{1,3})?")


@dataclass(frozen=True, kw_only=True)
class MeasureSpec:
    """The properties of a measure."""

    name: str
    #: The input of its formula.
    needs: Needs
    unit: Unit
    #: False for an error or a cost.
    greater_is_better: bool = True
    #: The default test of two classifiers on the same rows. The interval of the difference is of the same method.
    test: PairedTest = "counts"
    #: The largest difference of two values of a row; None if it is unlimited, or depends on the data.
    span: float | None = None
    #: Plural of the name; empty if the plural is the name itself.
    plural: str = ""
    #: The formula of two classes: arrays ``tp, fn, fp, tn``.
    of_counts: Callable[..., Any] | None = None
    #: The formula of several classes, if it needs no average over them.
    of_classes: Callable[..., Any] | None = None
    #: The formula of a column of scores: arrays ``positive, score``, or ``label, prediction`` of numbers.
    of_scores: Callable[..., float] | None = None
    #: Value of each row, if the measure is their mean, of arrays ``positive, score``, or ``label, prediction`` of
    #: numbers or of names of classes.
    of_rows: Callable[..., FloatArray] | None = None
    #: The formula with weights: arrays ``label, prediction`` or ``positive, score`` of shape (p,), and of shape (m, p).
    of_weights: Callable[..., FloatArray] | None = None
    #: The smallest and largest value of a row, if the formula implies them; None if they depend on the data.
    limits: Limits = None
    #: True if `of_rows` takes "positive" for one class and "negative" for all others.
    of_one_class: bool = False
    #: The k of ``pass@k`` and ``top-k-accuracy``; otherwise 0.
    answers: int = 0
    #: For a quantile, the share of rows below it; otherwise 0.
    share: float = 0.0
    #: True for a function of a user that is called for each row of weights.
    is_function: bool = False

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of its parameters, such as ``beta``."""
        if self.of_counts is None:
            return ()
        named = inspect.signature(self.of_counts).parameters
        return tuple(name for name in named if name not in (*Confusion._fields, "undefined"))

    @property
    def needs_scores(self) -> bool:
        """True if the measure needs scores or probabilities of classes."""
        return self.needs in ("scores", "probabilities", "tables")

    @property
    def is_slow(self) -> bool:
        """Return True if the formula with weights takes about as long as calls of a user's function."""
        return self.is_function or getattr(self.of_weights, "func", None) is weighted.macro_area

    @property
    def in_points(self) -> bool:
        """True if differences are stated in points (hundredths), not in the measure's own unit."""
        return self.unit != "own"

    def signed(self, *counts_or_rows: Any) -> FloatArray:
        """Return the formula of counts, or of rows with weights, with the sign at which greater is better."""
        formula = self.of_weights or self.of_counts
        assert formula is not None
        return np.asarray(formula(*counts_or_rows)) * (1 if self.greater_is_better else -1)

    def of(self, positive: Any, score: Any) -> float:
        """Return the measure of a column of scores; it needs `of_scores`, `of_rows` or `of_weights`."""
        if self.of_rows is not None:
            return float(self.of_rows(positive, score).mean())
        if self.of_weights is not None:
            return float(self.of_weights(positive, score, np.ones((1, len(score))))[0])
        assert self.of_scores is not None
        return self.of_scores(positive, score)


_BASE = (
    MeasureSpec(
        name="accuracy",
        needs="answers",
        unit="share",
        test="mcnemar",
        plural="accuracies",
        of_counts=formulas.accuracy,
        of_classes=formulas.accuracy_of_classes,
    ),
    MeasureSpec(
        name="error",
        needs="answers",
        unit="share",
        greater_is_better=False,
        test="mcnemar",
        plural="error rates",
        of_counts=formulas.error,
        of_classes=formulas.error_of_classes,
    ),
    MeasureSpec(name="precision", needs="classes", unit="points", of_counts=formulas.precision),
    MeasureSpec(name="recall", needs="classes", unit="points", of_counts=formulas.recall),
    MeasureSpec(name="specificity", needs="classes", unit="points", of_counts=formulas.specificity),
    MeasureSpec(
        name="balanced-accuracy",
        needs="classes",
        unit="share",
        of_counts=formulas.balanced_accuracy,
        of_classes=formulas.balanced_accuracy_of_classes,
    ),
    MeasureSpec(name="f1", needs="classes", unit="points", of_counts=formulas.f1),
    MeasureSpec(name="f-beta", needs="classes", unit="points", of_counts=formulas.f_beta),
    MeasureSpec(name="jaccard", needs="classes", unit="points", of_counts=formulas.jaccard),
    MeasureSpec(name="mcc", needs="classes", unit="points", of_counts=formulas.mcc, of_classes=formulas.mcc_of_classes),
    MeasureSpec(
        name="kappa", needs="classes", unit="points", of_counts=formulas.kappa, of_classes=formulas.kappa_of_classes
    ),
    MeasureSpec(
        name="dcf",
        needs="classes",
        unit="own",
        greater_is_better=False,
        plural="detection costs",
        of_counts=formulas.dcf,
    ),
    MeasureSpec(name="auc", needs="scores", unit="points", test="areas", of_scores=score_formulas.area_under_curve),
    MeasureSpec(
        name="neg-log-loss", needs="probabilities", unit="own", test="means", of_rows=score_formulas.neg_log_loss
    ),
    MeasureSpec(
        name="neg-brier", needs="probabilities", unit="own", test="means", span=1.0, of_rows=score_formulas.neg_brier
    ),
    MeasureSpec(name="mean-score", needs="marks", unit="own", test="means", of_rows=score_formulas.mark),
    MeasureSpec(name="ratio", needs="marks", unit="own", test="ratios", of_scores=score_formulas.ratio_of_sums),
    MeasureSpec(name="neg-mae", needs="numbers", unit="own", test="means", of_rows=score_formulas.neg_absolute_error),
    *(
        MeasureSpec(name=name, needs="numbers", unit="points", of_weights=partial(weighted.weighted_kappa, power))
        for name, power in weighted.POWERS.items()
    ),
    MeasureSpec(name="neg-mse", needs="numbers", unit="own", test="means", of_rows=score_formulas.neg_squared_error),
    MeasureSpec(name="macro-auc", needs="tables", unit="points", of_weights=partial(weighted.macro_area)),
    MeasureSpec(name="average-precision", needs="scores", unit="points", of_weights=weighted.average_precision),
    MeasureSpec(name="rmse", needs="numbers", unit="own", greater_is_better=False, of_weights=weighted.rmse),
    MeasureSpec(name="r2", needs="numbers", unit="own", of_weights=weighted.r2),
)


#: Averages: of summed counts, of equally weighted classes, and of classes weighted by their rows in the truth.
_AVERAGES = ("micro", "macro", "weighted")


def _averages(average: str) -> tuple[MeasureSpec, ...]:
    return tuple(
        replace(base, name=f"{average}-{base.name}", needs="classes", test="counts", plural="", of_classes=None)
        for base in _BASE
        if base.of_counts is not None
    )


class OwnMeasure(str):
    """The name of a user-made measure, with the measure's properties; `MEASURES` accepts it like any other name."""

    __slots__ = ("spec",)

    spec: MeasureSpec

    def __new__(cls, spec: MeasureSpec) -> Self:  # noqa: D102
        name = super().__new__(cls, spec.name)
        name.spec = spec
        return name

    def __getnewargs__(self) -> tuple[MeasureSpec]:  # type: ignore[override]  # those of `__new__`
        return (self.spec,)


class _Measures(dict[str, MeasureSpec]):
    """The measures by name, including ``pass@k`` for any k, those of installed packages, and user-made ones."""

    def __getitem__(self, name: str) -> MeasureSpec:
        return name.spec if isinstance(name, OwnMeasure) else super().__getitem__(name)

    def __missing__(self, name: str) -> MeasureSpec:
        if top := TOP.fullmatch(name):
            known: Any = {"needs": "tables", "unit": "share", "test": "mcnemar"}
            return MeasureSpec(name=name, **known, answers=int(top[1]))
        if is_pass_at(name):
            known = {"needs": "repeated answers", "unit": "share", "test": "means", "span": 1.0}
            return MeasureSpec(name=name, **known, answers=int(name[len("pass@") :]))
        if is_quantile(name):
            return MeasureSpec(name=name, needs="marks", unit="own", test="quantile", share=float(name[1:]) / 100)
        if is_made(name):
            made: MeasureSpec = importlib.import_module(MADE[name.partition("(")[0]]).spec_named(name)
            return made
        if not is_of_counts(name):
            raise KeyError(name)
        of_counts, greater = own.formula(base_of(name)[1])
        return MeasureSpec(name=name, needs="classes", unit="own", greater_is_better=greater, of_counts=of_counts)


def is_pass_at(name: str) -> bool:
    """Return True for ``pass@k`` and ``pass^k``: the chance that one, or each, of k answers to an item is right."""
    return _PASS_AT.fullmatch(name) is not None


def is_quantile(name: Any) -> bool:
    """Return True for ``p95``, ``p99.9`` and the like: the value that this percentage of rows do not exceed."""
    return isinstance(name, str) and _QUANTILE.fullmatch(name) is not None


#: Every measure by its name; those of counts also after ``micro-`` and ``macro-``, and ``pass@k``, ``p95`` and those of
#: installed packages when they are looked up.
MEASURES: Mapping[str, MeasureSpec] = _Measures(
    {spec.name: spec for spec in (*_BASE, *_averages("micro"), *_averages("macro"), *_averages("weighted"))}
)
#: The names of the measures of counts, without those of averages over classes.
BASE_COUNT_MEASURES: tuple[str, ...] = tuple(spec.name for spec in _BASE if spec.of_counts is not None)

COUNT_MEASURES: tuple[str, ...] = tuple(name for name, spec in MEASURES.items() if spec.of_counts is not None)


def is_of_counts(name: Any) -> bool:
    """Return True if a name is that of a measure of counts, of this package or offered by an installed one."""
    return isinstance(name, str) and (name in COUNT_MEASURES or base_of(name)[1] in own.named())


#: The names of the measures of one class's scores.
SCORE_MEASURES: tuple[str, ...] = tuple(
    name for name, spec in MEASURES.items() if spec.needs in ("scores", "probabilities") and not spec.of_weights
)


def base_of(name: str) -> tuple[str, str]:
    """Return the average of a measure (``"micro"``, ``"macro"`` or an empty string), and its name without it."""
    average, _, base = name.partition("-")
    return (average, base) if average in _AVERAGES else ("", name)


def is_named_alone(spec: MeasureSpec) -> bool:
    """Return True if a measure needs no parameters, and its average differs from the plain measure."""
    average, base = base_of(spec.name)
    other = average in ("macro", "weighted") and MEASURES[base].of_classes is None and spec.name != "weighted-recall"
    return not spec.parameters and (not average or other)


def refers_to_one_class(name: str) -> bool:
    """Return True if a measure is about the positive class, and so needs exactly two classes."""
    spec = MEASURES[name]
    of_two = spec.of_counts is not None and not base_of(name)[0] and spec.of_classes is None
    return name == "neg-brier" or spec.needs == "scores" or spec.of_one_class or of_two


def needs_positive(name: str) -> bool:
    """Return True if the positive class must be named: `auc` and `neg-brier` of either of two classes are equal."""
    return refers_to_one_class(name) and name not in ("auc", "neg-brier")


def in_our_words(name: Any) -> Any:
    """Return the name of a measure given by a synonym; return anything else unchanged."""
    if not isinstance(name, str) or isinstance(name, OwnMeasure) or name in MEASURES:
        return name
    words = name.replace("_", "-")
    base, _, average = words.rpartition("-")
    average, base = (average, base) if average in _AVERAGES else base_of(words)
    ours = f"{average}-{synonym_of(base)}".lstrip("-")
    return ours if ours in MEASURES else words if TOP.fullmatch(words) else name
