"""The rule of a regression: the level, the smallest drop that counts, and the drop that a pass must exclude.

`RowTest` is here too: the name of a test, with the properties on which the verdict of its row depends.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import Field, dataclass, field, fields, replace
from typing import Any, Literal, Self, TypeAlias, get_args

from .._common.tabular import with_known
from .._common.validation import as_choice, as_count, as_flag, as_real, refuse
from ..multiplicity import Adjustment, adjust_family, in_our_words
from ..unseen_row.means import UnseenGroup
from .margins import PartOfBaseline, StatedShare, as_margin, as_share, names_of

#: The kinds of tests. "unseen" adds an unseen row or group; after another test, such as one by exchanges, it is
#: "exchange". "infinite" stands for an infinite loss, so that nothing can be tested.
Kind: TypeAlias = Literal[
    "none", "mcnemar", "binomial", "runs", "unseen", "exchange", "betting", "judged", "unpaired", "gap", "infinite"
]


class RowTest(str):
    """The name of a test, empty if nothing was tested.

    Examples
    --------
    >>> test = RowTest("unseen row beside 60 rows", "unseen")
    >>> test.without_limits(), test.without_limits().limited
    ('unseen row beside 60 rows, without limits', False)
    """

    __slots__ = ("kind", "like_seen", "limited")

    kind: Kind
    #: True if the limits of a row are known, so that an unseen row cannot differ by any amount.
    limited: bool
    #: True if an unseen group is assumed to be like those seen.
    like_seen: bool

    def __new__(cls, name: str = "", kind: Kind = "none", limited: bool = True, like_seen: bool = False) -> Self:  # noqa: D102
        test = super().__new__(cls, name)
        test.kind, test.limited, test.like_seen = kind, limited, like_seen
        return test

    def __getnewargs__(self) -> tuple[str, Kind, bool, bool]:  # type: ignore[override]  # those of `__new__`
        return str(self), self.kind, self.limited, self.like_seen

    def named(self, name: str) -> "RowTest":
        """Return the same test under a more detailed name."""
        return RowTest(name, self.kind, self.limited, self.like_seen)

    def without_limits(self) -> "RowTest":
        """Return the same test for a row without known limits."""
        return RowTest(f"{self}, without limits", self.kind, limited=False, like_seen=self.like_seen)

    def after(self, other: str) -> "RowTest":
        """Return the same test as run after another one, if any; its p-value may then be larger."""
        return RowTest(f"{other}; {self}", "exchange", self.limited, self.like_seen) if other else self


#: The test of a row that is not tested.
NO_TEST = RowTest()


Verdict: TypeAlias = Literal["pass", "inconclusive", "fail"]


def failing_verdicts(inconclusive: bool) -> tuple[Verdict, ...]:
    """Return the verdicts that fail: "fail" and, if `inconclusive` is true, "inconclusive"."""
    return ("fail", "inconclusive") if inconclusive else ("fail",)


_MAX_RESAMPLES = 10**6
#: Tolerance for rounding: a drop that equals the smallest effect counts.
_ROUNDING = 1e-12
#: Random weightings beyond each end of an interval that are enough for its p-value.
_ENOUGH = 20
#: The part of an interval that must lie between its end and the margin; five standard errors of a quarter of 10,000
#: weightings are 0.07 of it.
_CLEAR = 0.1
#: With more slices than this, each begins with a quarter of the weightings, but with at least this many.
_MANY_SLICES, _FEWEST = 100, 1000


def key_of(attribute: "Field[Any]") -> str:
    """Return the name of a field of the rule in study files, options and JSON."""
    return str(attribute.metadata.get("key", attribute.name))


def _known(default: Any, description: str, **limits: Any) -> Any:
    """Return a field of the rule, with its description, its limits and its key."""
    return field(default=default, metadata={"description": description, **limits})


@dataclass(frozen=True, kw_only=True)
class ComparisonRule:
    """The rule by which a comparison finds a regression.

    A test fails if the candidate is worse by at least `minimum_effect`, with an adjusted one-sided p-value of at most
    `alpha`. It is inconclusive if the interval of the difference reaches below minus `margin`, so that the data do not
    exclude a drop that matters, or if a row may differ by any amount. Otherwise it passes. Except for the accuracy of
    single rows, one more row of an unseen kind would not undo p or the interval.

    The metadata of a field contain its description, its limits, and any shorter key in study files, options and JSON.

    Parameters
    ----------
    alpha : float
        The level of the one-sided tests, strictly between 0 and 0.5.
    adjust : {"holm", "benjamini-hochberg", "benjamini-yekutieli", "none"}
        The adjustment over all slices and measures.
    minimum_effect, margin : float or str
        The smallest drop that counts, and the drop that a pass must exclude, of measures with limits: points, which
        are hundredths of the range between the limits, as ``"0.5pt"``, or a share of this range below 0.2, as 0.005.
    relative_effect, relative_margin : float
        The same as parts of the measured baseline, of costs, amounts with a unit, and measures without limits.
    margins : mapping of str to float or str
        Other margins, of slices (``{"label = dog": "1pt"}``), or of measures or scores by their names; of a score that
        is no share in its own unit, or in per cent of the baseline: ``{"latency_ms": 20}``, ``"20ms"`` or ``"10%"``.
    confidence_level : float
        The confidence of the intervals, strictly between 0.5 and 1.
    simultaneous : bool
        Whether all intervals together have this confidence (Bonferroni), so that all passes hold together.
    gaps : bool
        Whether to test the gap between the best and the worst slice of each column (``sigstats.comparison.gaps``). A
        comparison also tests that it does not grow; a check tests only that it is at most the bar.
    n_resamples : int
        Random weightings of measures of counts, from 99 to a million, or more where the level needs them.
    rng : int
        The seed of the weights, from 0.
    unseen_group : {"auto", "like-seen", "any"}
        The group that a pass must withstand, if rows are in groups: one that loses all its rows (``"any"``), or one
        whose mean is as far from that of all rows as the mean of any group seen (``"like-seen"``). The latter takes
        kinds of group that are rarer than 1 in 25, or than fewer groups can show, to be no farther away than others.
        ``"auto"`` is ``"like-seen"`` from 110 groups on.
    smallest_slice : int
        Slices with fewer rows are not tested.

    Raises
    ------
    ValueError
        If a value is out of range.

    Examples
    --------
    >>> import sigstats
    >>> sigstats.ComparisonRule(margin=0.01).verdict(adjusted_pvalue=0.3, difference=0.002, low=-0.008)
    'pass'
    """

    alpha: float = _known(0.05, "Level of the one-sided tests", gt=0, lt=0.5)
    adjust: Adjustment = field(default="holm", metadata={"description": "Adjustment over all slices and measures"})
    minimum_effect: float = _known(0.005, "Smallest drop that counts", ge=0, le=1, share=True)
    margin: float = _known(0.005, "Drop that a pass must exclude", ge=0, le=1, share=True)
    relative_effect: float = _known(
        0.05, "Smallest drop that counts, relative to the baseline, for measures without limits", ge=0, le=1
    )
    relative_margin: float = _known(
        0.05, "Drop that a pass must exclude, relative to the baseline, for measures without limits", ge=0, le=1
    )
    margins: Mapping[str, float] = field(
        default_factory=dict, metadata={"description": "Margin of a slice, measure or score", "share": True}
    )
    confidence_level: float = _known(0.95, "Confidence of the intervals", key="confidence", gt=0.5, lt=1)
    simultaneous: bool = _known(False, "Whether all intervals together have the confidence")
    gaps: bool = _known(False, "Whether to test the gap between the best and the worst slice of each column")
    n_resamples: int = _known(
        10_000, "Random weightings; more if the level needs them", key="resamples", ge=99, le=_MAX_RESAMPLES
    )
    rng: int = _known(0, "Seed of the weights", key="seed", ge=0, lt=2**63)
    unseen_group: UnseenGroup = field(
        default="auto", metadata={"description": "Unseen group that a pass must withstand: like-seen, any or auto"}
    )
    smallest_slice: int = _known(10, "Slices with fewer rows are not tested", ge=1, le=2**53)

    def __post_init__(self) -> None:
        object.__setattr__(self, "adjust", as_choice(in_our_words(self.adjust), "adjust", get_args(Adjustment)))
        as_choice(self.unseen_group, "unseen_group", get_args(UnseenGroup))
        for attribute in fields(self):
            name, limits, value = attribute.name, attribute.metadata, getattr(self, attribute.name)
            if isinstance(attribute.default, bool):
                as_flag(value, name)
            elif isinstance(attribute.default, int):
                most = limits.get("le", limits.get("lt", 2**53 + 1) - 1)
                object.__setattr__(self, name, as_count(value, name, minimum=limits["ge"], maximum=most))
            elif isinstance(attribute.default, float):
                low, high = limits.get("gt", limits.get("ge")), limits.get("lt", limits.get("le"))
                value = as_share(value, name) if limits.get("share") else value
                number = as_real(value, name, low=low, high=high, open_ends="gt" in limits)
                has_unit = isinstance(value, (StatedShare, PartOfBaseline))
                object.__setattr__(self, name, value if has_unit else number)
        if not isinstance(self.margins, Mapping):
            raise refuse("margins", self.margins, "a mapping of slices or measures to margins")
        margins = {name: as_margin(value, "margins") for name, value in self.margins.items()}
        object.__setattr__(self, "margins", margins)

    def by_keys(self) -> dict[str, Any]:
        """Return the values by the keys of a study file."""
        values = {key_of(attribute): getattr(self, attribute.name) for attribute in fields(self)}
        return values if self.gaps else {key: value for key, value in values.items() if key != "gaps"}

    def level_of_one(self, tests: int) -> float:
        """Return the largest p-value at which one of this many tests is rejected, whatever the other p-values are.

        Examples
        --------
        >>> import sigstats
        >>> rules = sigstats.ComparisonRule(), sigstats.ComparisonRule(adjust="none")
        >>> [round(rule.level_of_one(10), 6) for rule in rules]
        [0.005, 0.05]
        """
        small = 1e-12
        return self.alpha / (adjust_family([small, *[1.0] * (tests - 1)], self.adjust)[0] / small)

    def margin_of(self, row: Any) -> float:
        """Return the margin of a row: that of its slice's name, else of its score or measure, else of all others."""
        default = PartOfBaseline(self.relative_margin) if row.relative else StatedShare(self.margin)
        value = next((self.margins[name] for name in names_of(row) if name in self.margins), default)
        if isinstance(value, PartOfBaseline):
            return value * float(abs(row.baseline or 0.0))
        return value * float(row.span if isinstance(value, StatedShare) else 1.0)

    def effect_of(self, row: Any) -> float:
        """Return the smallest drop of a row that counts."""
        if row.relative:
            return self.relative_effect * float(abs(row.baseline or 0.0))
        return self.minimum_effect * float(row.span)

    def of_family(self, tests: int) -> Self:
        """Return the rule with the confidence of each of this many intervals, if they are simultaneous."""
        return replace(self, confidence_level=1 - (1 - self.confidence_level) / tests) if self.simultaneous else self

    def with_resamples_for(self, level: float) -> Self:
        """Return the rule with twice as many resamples as a p-value of at most `level` needs."""
        return self.with_resamples(max(self.n_resamples, min(math.ceil(2 / level), _MAX_RESAMPLES)))

    def with_resamples(self, size: int) -> Self:
        """Return the rule with this number of resamples, which is known to be valid."""
        return with_known(self, n_resamples=size)

    def verdict(
        self,
        *,
        adjusted_pvalue: float,
        difference: float,
        low: float,
        margin: float | None = None,
        effect: float | None = None,
    ) -> Verdict:
        """Return the verdict of one test.

        Parameters
        ----------
        adjusted_pvalue : float
            The adjusted one-sided p-value of "the candidate is not worse".
        difference, low : float
            The candidate minus the baseline, and the lower end of its interval.
        margin, effect : float, optional
            Those of the row; `margin` and `minimum_effect` of the rule by default.
        """
        least = self.minimum_effect if effect is None else effect
        if adjusted_pvalue <= self.alpha and difference <= -least * (1 - _ROUNDING):
            return "fail"
        return "inconclusive" if low < -(self.margin if margin is None else margin) else "pass"


def first_stage(size: int, slices: int) -> int:
    """Return how many of the `size` weightings to use first, for each of this many slices."""
    return min(size, max(_FEWEST, size // 4)) if slices > _MANY_SLICES else size


def in_stages(test: Callable[..., Any], rule: ComparisonRule, sizes: tuple[int, int, int]) -> Any:
    """Test with few random weightings or exchanges, then with more as long as few are beyond either end.

    P(p <= a) is at most a: whichever stage ends the test, p is at most a only if it was at the first stage that can end
    it with such a p. `sizes`: numbers of weightings in three stages: the first; the first that may end the test even if
    its interval ends near the margin, where more weightings might change a pass; the last.
    """
    size, few, last = (min(size, rule.n_resamples) for size in sizes)
    while True:
        tested = test(rule=rule.with_resamples(size))
        row = getattr(tested, "row", tested)
        least = 1.0 if row.two_sided_pvalue is None else row.two_sided_pvalue / 2  # of either order of the models
        clear = size >= few or row.low is None or row.high is None
        if not clear:  # the lower end is that of B - A, and the upper one that of A - B
            margin = rule.margin_of(row)
            clear = min(abs(row.low + margin), abs(row.high - margin)) >= _CLEAR * (row.high - row.low)
        if size == last or (least * size >= _ENOUGH and clear):
            return tested
        size = min(4 * size if size >= few else few, last)
