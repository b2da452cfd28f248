"""Base class of test results: a frozen record whose ``repr`` is the call that creates it."""

from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

from ._common.drawing import Drawn, forest
from ._common.extreme import ROUNDING, monte_carlo_pvalue
from ._common.numerals import p_number
from ._common.tabular import Table, in_words
from .intervals import Interval, clopper_pearson


@dataclass(frozen=True, kw_only=True)
class TestResult(Drawn):
    """The result of a test; each test adds its own fields, and `print` shows its question, p-value and method.

    Attributes
    ----------
    statistic : float
        The test statistic, in the unit the test's docstring states.
    pvalue : float
        The probability, under the null hypothesis, of an outcome at least as extreme as the observed one.
    method : str
        The name of the method of the p-value.
    alternative : str
        ``"two-sided"``, ``"greater"`` or ``"less"``.
    pvalue_interval : Interval or None
        The Monte-Carlo interval of the p-value, or certified bounds of it; None if the p-value is exact or asymptotic.
    n_resamples : int or None
        The number of random replicates; None if none were drawn.
    exceedances : int or None
        The number of replicates at least as extreme as observed.
    reason : str
        The reason for the choice of the method, and any warning about its assumptions; empty if there is none.
    error_bound : float or None
        A bound on the relative error of `pvalue` that is due to arithmetic, relative to the larger of `pvalue` and the
        exact value of the method: 2**-53 after one division of integers, 1 if a positive p-value is below the smallest
        double (docs/methods.md, "How sure the number is"). None for approximations by a normal, Student's t, F or
        chi-square distribution.
    """

    __test__ = False  # not a test case, whatever its name tells a test runner
    #: The name of the test and its question, and the null hypothesis as a clause.
    _question: ClassVar[str] = "Test: does the null hypothesis hold?"
    _null: ClassVar[str] = "it does"

    statistic: float
    pvalue: float
    method: str
    alternative: str = "greater"
    pvalue_interval: Interval | None = field(default=None)
    n_resamples: int | None = None
    exceedances: int | None = None
    reason: str = ""
    error_bound: float | None = None

    def _columns(self) -> dict[str, list[Any]]:
        values = {attribute.name: getattr(self, attribute.name) for attribute in fields(self) if attribute.compare}
        derived = [
            name for name in ("estimate", "confidence_interval") if isinstance(vars(type(self)).get(name), property)
        ]
        values |= {name: getattr(self, name) for name in derived}
        return {name: [value] for name, value in values.items() if not isinstance(value, tuple)}

    def _table(self) -> Table:
        p = p_number(self.pvalue, getattr(self, "log10_pvalue", None))
        shown = {name: getattr(self, f"{before}{name}", None) for name, before in _SHOWN.items()}
        columns = {"p": [p]}
        if self.pvalue_interval is not None:
            columns["interval of p"] = [" to ".join(p_number(end) if end else "0" for end in self.pvalue_interval)]
        columns |= {name: [in_words(value)] for name, value in shown.items() if value is not None}
        columns["method"] = [f"{self.method}, {self.alternative}"]
        notes = [self._sentence(p), *([self.reason] if self.reason else ())]
        return Table(self._question, columns, notes=notes, words=0)

    def _draw(self, ax: Any) -> Any:
        interval, estimate = (getattr(self, name, None) for name in ("confidence_interval", "estimate"))
        return forest(ax, [("", estimate, *interval)] if interval and estimate is not None else [], unit="estimate")

    def _sentence(self, p: str) -> str:
        return f"If {self._null}, an outcome at least as extreme as this one has probability {p}."


#: Fields printed next to the p-value, and the beginnings of their names.
_SHOWN = {"statistic": "", "estimate": "", "interval": "confidence_"}


def monte_carlo_outcome(exceedances: int, replicates: int) -> dict[str, Any]:
    """Return the fields of a `TestResult` from random replicates; the interval is for infinitely many of them."""
    return {
        "pvalue": monte_carlo_pvalue(exceedances, replicates),
        "pvalue_interval": clopper_pearson(exceedances, replicates, confidence_level=0.99),
        "n_resamples": replicates,
        "exceedances": exceedances,
        "error_bound": ROUNDING,
    }
