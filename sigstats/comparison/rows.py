"""The rows of a comparison or a check, one for each measure on each slice, and their overall verdict."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from .._common.messages import Note
from ..intervals import Interval
from ..ranking.means import MEAN_OVER_TASKS
from .rule import NO_TEST, ComparisonRule, RowTest, Verdict
from .units import ALL_ROWS

if TYPE_CHECKING:
    from ..many_datasets.joint_tasks import JointTasksResult


class Change(NamedTuple):
    """The first look with worse rows, and its interval."""

    look: int
    low: int
    high: int


class Row:
    """Common properties of rows of comparisons and of checks."""

    slice: str
    measure: str
    n: int
    low: float | None
    high: float | None
    pvalue: float | None
    confidence_level: float | None
    verdict: Verdict | None
    test: RowTest
    note: str
    unit: str
    score: str

    @property
    def name(self) -> str:
        """The measure, and the score if there are several."""
        return self.measure

    @property
    def usual(self) -> float | None:
        """The value whose size determines the number of decimals."""
        return None

    @property
    def confidence_interval(self) -> Interval | None:
        """The interval from `low` to `high`, or None."""
        if self.low is None or self.high is None or self.confidence_level is None:
            return None
        return Interval(self.low, self.high, self.confidence_level)

    @property
    def whole(self) -> bool:
        """True for all rows, False for a slice."""
        return self.slice in (ALL_ROWS, MEAN_OVER_TASKS)

    @property
    def unanswered(self) -> bool:
        """True if a measure could not be tested on all rows."""
        return self.verdict is None and self.slice == ALL_ROWS


@dataclass(frozen=True, kw_only=True)
class ComparisonRow(Row):
    """One measure on one slice.

    Attributes
    ----------
    slice, measure : str
    score : str
        The name of the score, if there are several; otherwise empty.
    n : int
        The number of rows, or of items if their answers are averaged.
    items : int or None
        The number of items that the rows answer, if items have several answers.
    baseline, candidate : float or None
        The measure of each.
    baseline_interval, candidate_interval : Interval or None
        The interval of each: Clopper and Pearson's for the accuracy (in groups, Gaffke's), Student's or DeLong's for
        scores, and random weights with one more row for other measures.
    difference, low, high : float or None
        Candidate minus baseline, and its interval; no ends if nothing differs and differences have no known bound.
    other_interval : Interval or None
        For groups, the interval under the other assumption about an unseen group (`ComparisonRule.unseen_group`).
    standard_error : float or None
        The standard error of the difference, by rows or groups (Miller 2024); None if the test has none.
    test : str
        The name of the test of `pvalue`.
    pvalue : float or None
        One-sided p-value of "the candidate is not worse".
    two_sided_pvalue : float or None
        Two-sided p-value of "both are equally good".
    pvalue_error, end_error : float or None
        The Monte-Carlo standard errors of `pvalue`, and of the ends of the interval (the larger one); None if no random
        weights were drawn.
    adjusted_pvalue : float or None
        `pvalue`, adjusted over the family of tests.
    equivalence_pvalue : float or None
        p of "the difference is the margin or more": the larger one of two one-sided tests (Schuirmann 1987), for
        accuracy Tango's score tests; not adjusted.
    pd, psd, nsd : float or None
        Possibilistic indices of "not worse" against "worse"; if nothing differs, both are possible and neither is
        necessary.
    differing : int or None
        The number of rows, groups or items in which the models differ by this measure; None if nothing was tested.
    detectable : float or None
        If accuracy is inconclusive, the smallest drop that this number of rows detects with power 0.8, given how often
        the models disagree, at the level of one test among all of them.
    deciding : int or None
        If the verdict is inconclusive, about how many rows would decide, if they had the values of these; None if no
        number would.
    verdict : "pass", "inconclusive", "fail" or None
        None if nothing was tested.
    note : str
    lower_is_better : bool
        Whether a positive difference means that the candidate is worse: the measure is a cost, an error or a loss.
    unit : str
        The unit of the measure in the name of the score ("ms"); empty if the name has none.
    relative : bool
        Whether the margin is a part of the baseline, as for costs, amounts with a unit, and measures without limits.
    span : float
        The range between the limits of the measure, of which a point is a hundredth; 1 for shares, and if `relative`.
    margin : float or None
        The drop that a pass must exclude, in the unit of `difference`; None if nothing was tested.
    confidence_level : float or None
        That of the intervals; None if nothing was tested.
    change : Change or None
        For fresh rows that fail, the look from which the candidate is worse, with the first and the last possible one
        (approximately 95%); the other values are of the rows from that look on.
    windows : tuple
        For fresh rows, the difference and the ends of its interval in the last look, and in the last seven.
    against_bar : bool
        Whether `baseline` is a bar, as in regression studies of one model.
    """

    slice: str
    measure: str
    n: int
    score: str = ""
    items: int | None = None
    baseline: float | None = None
    candidate: float | None = None
    baseline_interval: Interval | None = None
    candidate_interval: Interval | None = None
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    other_interval: Interval | None = None
    standard_error: float | None = None
    test: RowTest = NO_TEST
    pvalue: float | None = None
    two_sided_pvalue: float | None = None
    pvalue_error: float | None = None
    end_error: float | None = None
    adjusted_pvalue: float | None = None
    equivalence_pvalue: float | None = None
    pd: float | None = None
    psd: float | None = None
    nsd: float | None = None
    differing: int | None = None
    detectable: float | None = None
    deciding: int | None = None
    verdict: Verdict | None = None
    note: str = ""
    lower_is_better: bool = False
    unit: str = ""
    relative: bool = False
    span: float = field(default=1.0, repr=False)
    margin: float | None = None
    confidence_level: float | None = None
    change: "Change | None" = None
    windows: tuple[tuple[float | None, ...], ...] = ()
    against_bar: bool = False

    @property
    def reference(self) -> str:
        """The reference of the comparison: ``"baseline"`` or ``"bar"``."""
        return "bar" if self.against_bar else "baseline"

    @property
    def gain(self) -> float | None:
        """The advantage of the candidate; negative if it is worse."""
        return None if self.difference is None else -self.difference if self.lower_is_better else self.difference

    @property
    def worst(self) -> float | None:
        """The end of the interval that is worst for the candidate."""
        return self.high if self.lower_is_better else self.low

    @property
    def holds_zero(self) -> bool:
        """True if the interval of the difference contains 0."""
        return self.low is not None and self.high is not None and self.low <= 0 <= self.high

    def turned(self) -> "ComparisonRow":
        """Return the row with all values negated if lower is better, otherwise the row itself."""
        values = ("baseline", "candidate", "difference", "baseline_interval", "candidate_interval")
        return with_turned(self, *values) if self.lower_is_better else self

    @property
    def usual(self) -> float | None:  # noqa: D102
        return self.baseline

    @property
    def name(self) -> str:  # noqa: D102
        return f"{self.measure} of {self.score}" if self.score else self.measure

    @property
    def silent(self) -> bool:
        """True if the models do not differ at all, so that the data favour neither."""
        return self.differing == 0

    @property
    def without_limits(self) -> bool:
        """True if an unseen row may differ by more than any seen one, so that nothing is excluded."""
        return self.low is None or not self.test.limited


R = TypeVar("R", bound="Row")


def with_turned(row: R, *names: str) -> R:
    """Return the row with these values and its intervals negated."""

    def of(value: Any) -> Any:
        return -value if isinstance(value, Interval) else None if value is None else 0.0 - value

    turned = {name: of(getattr(row, name)) for name in (*names, "other_interval")}
    changed: Any = row
    return replace(changed, low=of(row.high), high=of(row.low), **turned)  # type: ignore[no-any-return]


def worst_verdict(rows: Sequence[Row]) -> Verdict:
    """Return the worst verdict of any row; at best inconclusive if one is unanswered."""
    verdicts = {row.verdict for row in rows}
    if "fail" in verdicts:
        return "fail"
    return "inconclusive" if "inconclusive" in verdicts or any(row.unanswered for row in rows) else "pass"


@dataclass(frozen=True, kw_only=True)
class ComparedRows:
    """The data of a comparison; `sigstats.results.ComparisonResult` describes the attributes, and shows them."""

    rows: tuple[ComparisonRow, ...]
    rule: ComparisonRule
    n: int
    notes: tuple[Note, ...] = ()
    identical: bool = False
    items: int | None = None
    subjects: tuple[Mapping[str, str], Mapping[str, str]] | None = None
    joint: "JointTasksResult | None" = None

    @property
    def verdict(self) -> Verdict:
        """The worst verdict of any row; at best inconclusive if a measure was not tested on all rows."""
        return worst_verdict(self.rows)

    @property
    def ranked(self) -> tuple[ComparisonRow, ...]:
        """The rows, the deciding one first: fails by p and by the drop in margins; inconclusive, slices last."""
        # Unanswered rows have place 2, and inconclusive slices place 3.
        order = {"fail": 0, "inconclusive": 1, None: 4, "pass": 5}

        def key(row: ComparisonRow) -> tuple[float, float, float]:
            place = order[row.verdict]
            if row.adjusted_pvalue is None or row.pvalue is None or place > 1:
                return 2 if row.unanswered else place, 0.0, 0.0
            if row.verdict == "fail":
                return place, row.adjusted_pvalue, (row.gain or 0.0) / max(self.rule.margin_of(row), 1e-12)
            # Of many tests most have an adjusted p of 1.
            return 1 if row.whole else 3, row.adjusted_pvalue, row.pvalue

        return tuple(sorted(self.rows, key=key))

    @property
    def measures(self) -> tuple[str, ...]:
        """The measures that were compared, each once."""
        return tuple(dict.fromkeys(row.measure for row in self.rows))

    @property
    def names(self) -> tuple[str, ...]:
        """The measures, each of each score, once."""
        return tuple(dict.fromkeys(row.name for row in self.rows))
