"""Is the candidate worse than the baseline, anywhere? Every measure, on all rows and on every slice, and a verdict."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from sigstats.multiplicity import adjust
from sigstats.possibilistic_indices import possibility
from sigstats.tasks.predictions import PairedPredictions

from ..report.wording import NBSP, p_number
from .rule import ALL, IN_UNITS, MEASURES, SCORE_MEASURES, Row, Rule, Verdict
from .tests import measured

__all__ = ["ALL", "IN_UNITS", "MEASURES", "SCORE_MEASURES", "Comparison", "Row", "Rule", "Verdict", "compare"]

_POSITIVE_NAMES = (
    {"0", "1"},
    {"-1", "1"},
    {"False", "True"},
    {"false", "true"},
    {"no", "yes"},
    {"negative", "positive"},
)


@dataclass(frozen=True)
class Comparison:
    """All rows, and the verdict: the worst of theirs."""

    rows: tuple[Row, ...]
    rule: Rule
    n: int
    notes: tuple[str, ...] = field(default=())

    @property
    def verdict(self) -> Verdict:
        """The worst verdict of any row; a measure that was not tested on all rows warns."""
        found = {row.verdict for row in self.rows}
        if "fail" in found:
            return "fail"
        return "warn" if "warn" in found or any(map(_unanswered, self.rows)) else "pass"

    @property
    def rule_in_words(self) -> str:
        """What counts as a regression, in a sentence."""
        return self.rule.in_words({row.measure for row in self.rows})

    def reasons(self) -> list[str]:
        """A sentence for each row that does not pass."""
        return [
            f"not tested: {row.measure} on {row.slice}: {row.note}" if _unanswered(row) else _reason(row, self.rule)
            for row in self.rows
            if row.verdict in ("fail", "warn") or _unanswered(row)
        ]


def default_measures(joined: PairedPredictions) -> tuple[str, ...]:
    """What is compared where nobody says: the accuracy, and the area under the curve where there are scores."""
    if not joined.predicted:
        return ("mean-score",) if joined.graded or len(joined.classes) != 2 else ("auc",)
    return ("accuracy", "auc") if joined.scores is not None and not joined.graded else ("accuracy",)


def compare(
    joined: PairedPredictions, rule: Rule, measures: Sequence[str] | None = None, *, positive: str | None = None
) -> Comparison:
    """Test every measure on all rows and on every slice.

    Parameters
    ----------
    joined : sigstats.tasks.predictions.PairedPredictions
    rule : Rule
    measures : sequence of str, optional
        Of `MEASURES` and `SCORE_MEASURES`; `default_measures` where absent.
    positive : str, optional
        The class whose probability the scores are; needed where the names of the classes do not tell.

    Raises
    ------
    ValueError
        If the files do not hold what a measure needs, or so few rows that nothing can be tested.
    """
    chosen = default_measures(joined) if measures is None else measures
    for name in chosen:
        _require(joined, name)
    if any(name in SCORE_MEASURES[:3] for name in chosen):
        positive = _positive(joined, positive)
    slices = list(_slices(joined))
    level = rule.level_of_one(max(1, len(chosen) * sum(where.sum() >= rule.smallest_slice for _, where in slices)))
    notes = joined.notes
    if any(name in MEASURES and (name != "accuracy" or joined.group is not None) for name in chosen):
        rule = rule.resolving(level)
        if 1 / (rule.resamples + 1) > level:
            notes = (
                *notes,
                f"no bootstrap can fail: its smallest p is {1 / (rule.resamples + 1):.2g}, {level:.2g} needed",
            )
    rows = [
        measured(joined, where, Row(slice=name, measure=measure, n=int(where.sum())), rule, positive, level)
        for name, where in slices
        for measure in chosen
    ]
    tested = [position for position, row in enumerate(rows) if row.p_worse is not None]
    if not tested:
        raise ValueError(f"rows: {joined.n:,} are not enough; nothing can be tested ({rows[0].note})")
    raw = [rows[position].p_worse for position in tested]
    adjusted = raw if rule.adjust == "none" or not raw else adjust(raw, method=rule.adjust).tolist()
    for position, p in zip(tested, adjusted, strict=True):
        rows[position] = _decided(replace(rows[position], p_adjusted=p), rule)
    return Comparison(tuple(rows), rule, joined.n, notes)


def _unanswered(row: Row) -> bool:
    """Whether the data could not answer what was asked of all rows."""
    return row.verdict is None and row.slice == ALL


def _require(joined: PairedPredictions, measure: str) -> None:
    """Refuse a measure that the files do not hold the data of."""
    if measure in SCORE_MEASURES:
        if joined.scores is None:
            raise ValueError(f"measures: {measure!r} is not valid without scores; expected their column (--score)")
        if measure != "mean-score" and joined.graded:
            raise ValueError(f"measures: {measure!r} is not valid for marks; expected mean-score")
        if measure in ("neg-log-loss", "neg-brier") and any(x.min() < 0 or x.max() > 1 for x in joined.scores):
            low, high = min(x.min() for x in joined.scores), max(x.max() for x in joined.scores)
            raise ValueError(f"scores: {low:g} to {high:g} are not valid for {measure}; expected probabilities")
    elif not joined.predicted:
        what = "marks between right and wrong" if joined.graded else "scores without predictions"
        raise ValueError(f"measures: {measure!r} is not valid for {what}; expected one of {', '.join(SCORE_MEASURES)}")
    elif joined.graded and measure != "accuracy":
        raise ValueError("measures: these files say only which answers were right; expected accuracy or mean-score")


def _positive(joined: PairedPredictions, positive: str | None) -> str:
    if len(joined.classes) != 2:
        raise ValueError(f"label: {len(joined.classes)} classes are not valid for measures of scores; expected two")
    if positive is None:
        if set(joined.classes) not in _POSITIVE_NAMES:
            raise ValueError(f"positive: is missing; expected {' or '.join(joined.classes)} (--positive)")
        return max(joined.classes)
    if positive not in joined.classes:
        raise ValueError(f"positive: {positive!r} is not valid; expected {' or '.join(joined.classes)}")
    return positive


def _slices(joined: PairedPredictions) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    yield ALL, np.ones(joined.n, dtype=bool)
    for column, (names, codes) in joined.slices.items():
        for code, name in enumerate(names):
            yield f"{column} = {name}", codes == code


def _decided(row: Row, rule: Rule) -> Row:
    assert row.p_worse is not None
    assert row.p_adjusted is not None
    assert row.difference is not None
    assert row.low is not None
    indices = possibility(row.p_worse)
    verdict: Verdict = "pass"
    # A drop of exactly the smallest effect counts, whatever its last bit.
    if row.p_adjusted <= rule.alpha and row.difference <= -rule.minimum_effect + 1e-12:
        verdict = "fail"
    elif row.low < -rule.margin:
        verdict = "warn"
    return replace(row, pd=indices.pd, psd=indices.psd, nsd=indices.nsd, verdict=verdict)


def _reason(row: Row, rule: Rule) -> str:
    change = (
        f"{row.measure} on {row.slice}: {_change(row, row.difference)} "
        f"({_bare(row, row.low)} to {_bare(row, row.high)}), adjusted p {_p(row.p_adjusted)}"
    )
    if row.verdict == "fail":
        return f"worse: {change}"
    margin = f"{rule.margin:g}" if row.measure in IN_UNITS else f"{100 * rule.margin:g} points"
    found = "" if row.detectable is None else f"; {row.n:,} rows show a drop of {100 * row.detectable:.2g} points"
    if row.p_adjusted is not None and row.p_adjusted <= rule.alpha:
        least = f"{rule.minimum_effect:g}" if row.measure in IN_UNITS else f"{100 * rule.minimum_effect:g} points"
        return f"worse, though by less than {least}, and a drop of more than {margin} is not excluded: {change}"
    return (
        f"not shown to be worse, but a drop of more than {margin} is not excluded: {change}; {leaning(row)}{found}"
        + (" with power 0.8" if found else "")
    )


def leaning(row: Row) -> str:
    """What the possibilistic indices say of "not worse", in words: a large p-value is no evidence of itself."""
    if row.pd is None or row.nsd is None:
        return "no evidence"
    if row.pd < 0.5:
        return f"the evidence leans to worse (possibility of not worse {row.pd:.2g})"
    if row.nsd > 0.5:
        return f"the evidence leans to not worse (necessity {row.nsd:.2g})"
    return f"no evidence either way (possibility of not worse {row.pd:.2g}, necessity {row.nsd:.2g})"


def _change(row: Row, value: float | None) -> str:
    return _bare(row, value) if row.measure in IN_UNITS else f"{_bare(row, value)} points"


def _bare(row: Row, value: float | None) -> str:
    """A difference as plain text, in points or in the measure's own unit."""
    if value is None:
        return "-"
    text = f"{value:+.4f}" if row.measure in IN_UNITS else f"{100 * value:+.2f}"
    return text[1:] if not float(text) else text


def _p(value: float | None) -> str:
    return "-" if value is None else p_number(value).replace(NBSP, " ")
