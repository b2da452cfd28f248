"""A row of the result of one model and a bar."""

from dataclasses import dataclass

from ...intervals import Interval
from ..row_test import NO_TEST, RowTest
from ..rows import Row, with_turned
from ..rule import Verdict


@dataclass(frozen=True, kw_only=True)
class CheckedRow(Row):
    """One measure of one model on one slice.

    Attributes
    ----------
    slice, measure : str
    n : int
    items : int or None
        The number of items that the rows answer, if items have several answers.
    counted : int or None
        The number of rows on which the measure rests, such as those predicted to be positive for precision.
    value, low, high : float or None
        The measure and its interval.
    other_interval : Interval or None
        As of `ComparisonRow`.
    standard_error : float or None
        The standard error of a mean, by rows or groups; None if the test has none.
    pvalue : float or None
        One-sided p-value of "the measure is at least the bar".
    adjusted_pvalue : float or None
        `pvalue`, adjusted over all measures and slices.
    verdict : "pass", "inconclusive", "fail" or None
        None if nothing was tested.
    test, note, unit, score : str
        `score` is the name of the marks, as of `ComparisonRow`.
    confidence_level : float or None
        That of the interval; None if nothing was tested.
    """

    slice: str
    measure: str
    n: int
    items: int | None = None
    counted: int | None = None
    value: float | None = None
    low: float | None = None
    high: float | None = None
    other_interval: Interval | None = None
    standard_error: float | None = None
    pvalue: float | None = None
    adjusted_pvalue: float | None = None
    verdict: Verdict | None = None
    test: RowTest = NO_TEST
    note: str = ""
    unit: str = ""
    score: str = ""
    confidence_level: float | None = None

    @property
    def usual(self) -> float | None:  # noqa: D102
        return self.value

    def turned(self) -> "CheckedRow":
        """The row with the sign of its values turned."""
        return with_turned(self, "value")
