"""The answer of a comparison or a check: the verdict, the row that decides it, its effect, and the advice.

Terminal, notebook, page, Markdown, JUnit, JSON, assertions and the messages of schedulers all render one `Answer`.
`answer_of` makes that of a comparison (`check/result.py` that of a check), and `reasons` describes all rows that do not
pass. The other functions return parts of these sentences, empty if there is nothing to say; last, the advice.
"""

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Generic

from .._common.messages import Note, some_of
from .._common.numerals import NBSP, p_number, significant
from ..measures.metrics import EXPECTED_COST
from ..measures.table import is_quantile
from ..multiplicity import adjust_pvalues
from ..ranking.means import MEAN_OVER_TASKS
from .cells import amount, detected_by, difference_in_words, effect_of, interval_of, loss, named, settled_by, with_unit
from .rows import ComparedRows, ComparisonRow, R
from .rule import ComparisonRule, Verdict
from .units import ALL_ROWS

#: At most this many slices are named in a sentence.
MOST_NAMED = 5
NEITHER = "no evidence either way"
_SAME = "both inputs have the same content; if they should be two models, one may be a copy of the other"
_OF_LOOKS = "as it covers all looks together, for rows since the change; p is from a betting test of all rows"
#: The verbs for one other row, and for several, by their verdict.
_OTHERS = {
    "fail": ("fails", "fail"),
    "inconclusive": ("is inconclusive", "are inconclusive"),
    None: ("was not made", "were not made"),
}


@dataclass(frozen=True, kw_only=True)
class Answer(Generic[R]):
    """The answer of a comparison or a check."""

    #: None for a leaderboard; `row` is None, too.
    verdict: Verdict | None
    #: The row that decides: the failing row with the smallest adjusted p (if tied, the one with the largest drop in
    #: margins), else an inconclusive row, all rows before slices, else the first measure on all rows.
    row: R | None
    #: A sentence with the measure, the slice and the effect with its interval.
    finding: str
    #: Advice, an imperative sentence.
    advice: str
    #: Measures by which the candidate is better on all rows (two-sided tests, adjusted over the measures by Holm).
    better: tuple[R, ...] = ()
    #: Labelled sentences about several rows. None contradicts the verdict.
    also: tuple[tuple[str, str], ...] = ()

    @property
    def headline(self) -> str:
        """The verdict and the finding."""
        return f"{self.verdict.upper()}: {self.finding}" if self.verdict else self.finding


def answer_of(comparison: ComparedRows) -> Answer[ComparisonRow]:
    """Return the answer of a comparison."""
    row, better, cheaper = comparison.ranked[0], _better(comparison), _not_worse_and_cheaper(comparison)
    gains = ", ".join(f"{named(other)} {effect_of(other)}" for other in better if other is not row)
    finding = finding_of(row, comparison.rule)
    if comparison.verdict == "pass" and not row.against_bar:
        made = sum(row.verdict is not None for row in comparison.rows)
        finding = f"no regression{f' in {made:,} tests' if made > 1 else ''}; {finding}"
    elif comparison.verdict == "inconclusive" and gains:
        finding, gains = f"{gains}, but {_unexcluded(row, comparison.rule)}: {named(row)} {effect_of(row)}", ""
    why = _OF_LOOKS if row.test.kind == "betting" else "as it is two-sided; p is one-sided"
    includes_zero = f"the interval includes 0 {why}" if row.verdict == "fail" and row.holds_zero else ""
    also = [
        ("Beware:", _SAME if comparison.identical else ""),
        ("Better:", "" if cheaper else gains),
        ("Together:", cheaper),
        ("Beware:", "; ".join(_apart_in_sign(comparison))),
        ("Beware:", includes_zero),
        ("Beware:", "; ".join(dict.fromkeys(note for note in comparison.notes if note.name == "left-out-scores"))),
    ]
    answer = Answer(
        verdict=comparison.verdict,
        row=row,
        finding=finding + others_in_words(comparison.ranked),
        advice=_advice(comparison, row, better),
        better=better,
        also=tuple((label, words) for label, words in also if words),
    )
    return qualified(answer, comparison.notes)


#: Advice that removes a doubt, by the name of its note, and the start of a sentence with the usual advice.
_CURES = {
    "": (_INDEPENDENT := "If all rows are independent"),
    "duplicates": f"Repeat without the copies. {_INDEPENDENT}",
    "one-history": f"Give one row per item, not per epoch or setting. {_INDEPENDENT}",
    "reversed-scores": "Give the probability of one class in all rows. If the scores are right",
}


def in_doubt(notes: Iterable[Note]) -> str:
    """Return the end of a sentence with the first doubt in notes on rows or scores; empty if there is none."""
    return next((f", but {note.doubt}" for note in notes if note.doubt), "")


def qualified(answer: Answer[R], notes: Iterable[Note]) -> Answer[R]:
    """Return the answer with the first doubt in notes on rows or scores, and with advice that removes it."""
    note = next((note for note in notes if note.doubt), None)
    if note is None:
        return answer
    cure = _CURES.get(note.name, f"Repeat with these groups (--group). {_CURES['']}")
    advice = f"{cure} nevertheless: {answer.advice}"
    return replace(answer, finding=answer.finding + in_doubt([note]), advice=advice)


def others_in_words(ranked: Sequence[R]) -> str:
    """Return the number of other rows with the verdict of the first, after a semicolon; empty if there are none."""
    verdict = ranked[0].verdict
    others = sum(row.verdict == verdict for row in ranked[1:])
    if verdict == "pass" or not others:
        return ""
    return f"; {others:,} other test{'s' * (others > 1)} {_OTHERS[verdict][others > 1]}"


def reasons(comparison: ComparedRows, *, others: bool = False) -> list[str]:
    """Return a sentence for each row that does not pass, the worst first, and one for all slices without evidence.

    `others`: leave out the row of the headline.
    """
    rows = comparison.ranked[1:] if others else comparison.ranked
    not_passed = [row for row in rows if row.verdict in ("fail", "inconclusive") or row.unanswered]
    sentences = [reason_of(row, comparison.rule) for row in not_passed if is_telling(row)]
    neutral = [row for row in not_passed if not is_telling(row)]
    return [*sentences, neutral_in_words(neutral)] if neutral else sentences


def reason_of(row: ComparisonRow, rule: ComparisonRule) -> str:
    """Return the finding of a row that does not pass, its p-value, the evidence, and how many rows would settle it."""
    parts = [finding_of(row, rule)]
    if row.adjusted_pvalue is not None and not row.silent:
        parts.append(f"adjusted p {p_number(row.adjusted_pvalue).replace(NBSP, ' ')}")
        if row.verdict == "inconclusive":
            parts += [evidence_in_words(row, rule), detected_by(row)]
    return "; ".join(filter(None, [*parts, settled_by(row)]))


def is_telling(row: ComparisonRow) -> bool:
    """Return False for an inconclusive slice whose evidence leans neither way."""
    leans = row.pd is not None and row.nsd is not None and (row.pd < 0.5 or row.nsd > 0.5)
    return row.whole or row.verdict != "inconclusive" or leans


def neutral_in_words(rows: Sequence[ComparisonRow]) -> str:
    """Return a sentence for inconclusive rows that lean neither way."""
    return f"{NEITHER} on {some_of(list(dict.fromkeys(row.slice for row in rows)), MOST_NAMED)}"


def evidence_in_words(row: ComparisonRow, rule: ComparisonRule) -> str:
    """Return the possibilistic indices of "not worse", in words: a large p-value is not evidence."""
    if _is_significant(row, rule):
        effect = rule.effect_of(row)
        if row.worst is not None and abs(row.worst) < effect:
            return f"the candidate is worse, though by less than {amount(row, effect)}"
        return f"the candidate is worse; whether by {amount(row, effect)} or more is open"
    if row.pd is not None and row.pd < 0.5:
        return "the candidate looks worse, but not significantly"
    return "the candidate looks no worse" if (row.nsd or 0.0) > 0.5 else NEITHER


def finding_of(row: ComparisonRow, rule: ComparisonRule) -> str:
    """Return a sentence with the effect of a row, and the reason why the row does not pass."""
    if row.verdict is None:
        return f"{named(row)} was not tested: {row.note}"
    if row.verdict != "inconclusive":
        return f"{named(row)} {effect_of(row)}"
    if row.silent and row.low is not None:
        excluded = f"a {loss(row)} of more than {amount(row, rule.margin_of(row))}"
        possible = f"({with_unit(row, row.worst)} is possible)"
        return f"{named(row)} did not change, but {row.n:,} rows do not exclude {excluded} {possible}"
    return f"{named(row)} {effect_of(row)}; {_unexcluded(row, rule)}"


def _unexcluded(row: ComparisonRow, rule: ComparisonRule) -> str:
    """Return the change that the interval of an inconclusive row does not exclude."""
    if row.against_bar and row.verdict is not None:
        return f"a value {'above' if row.lower_is_better else 'below'} the bar is not excluded"
    if row.verdict is None:
        return "not all was tested"
    if row.low is None and is_quantile(row.measure):
        return "the rows are too few for an interval"
    if row.without_limits:
        return f"no limits of {row.score or row.name} are known, so that no {loss(row)} is excluded"
    margin = rule.margin_of(row)
    smallest_loss = (row.low if row.lower_is_better else -(row.high or 0.0)) or 0.0
    if smallest_loss > margin and (row.adjusted_pvalue or 0.0) > rule.alpha:
        above = f"adjusted p is above {significant(rule.alpha, 2)}, the level of this decision"
        return f"{above}, although the interval lies beyond {amount(row, margin)}"
    return f"a {loss(row)} of more than {amount(row, margin)} is not excluded"


def _is_significant(row: ComparisonRow, rule: ComparisonRule) -> bool:
    return row.adjusted_pvalue is not None and row.adjusted_pvalue <= rule.alpha


def _better(comparison: ComparedRows) -> tuple[ComparisonRow, ...]:
    """Return the measures by which the candidate is better on all rows: two-sided tests, adjusted by Holm."""
    rows = [row for row in comparison.rows if row.slice == ALL_ROWS and row.two_sided_pvalue is not None]
    adjusted = adjust_pvalues([row.two_sided_pvalue or 0.0 for row in rows], method="holm").tolist() if rows else []
    pairs = zip(rows, adjusted, strict=True)
    return tuple(row for row, p in pairs if (row.gain or 0) > 0 and p <= comparison.rule.alpha)


def _apart_in_sign(comparison: ComparedRows) -> list[str]:
    """Return the measures for which the difference on all rows and its mean over tasks differ in sign."""
    means = {row.name: row for row in comparison.rows if row.slice == MEAN_OVER_TASKS}
    pairs = [(row, means[row.name]) for row in comparison.rows if row.slice == ALL_ROWS and row.name in means]
    return [
        f"{row.name}: {difference_in_words(row)} on all rows, {difference_in_words(mean)} in the mean over tasks"
        for row, mean in pairs
        if (row.difference or 0) * (mean.difference or 0) < 0
    ]


def _not_worse_and_cheaper(comparison: ComparedRows) -> str:
    """Return a sentence if the candidate is shown to be both not worse and cheaper on all rows, else an empty text.

    This needs no adjustment (Berger 1982, Technometrics 24, 295-300).
    """
    rows = [row for row in comparison.rows if row.slice == ALL_ROWS and row.pvalue is not None]
    costs, others = [row for row in rows if row.lower_is_better], [row for row in rows if not row.lower_is_better]
    not_worse = bool(others) and all(row.verdict == "pass" for row in others) and comparison.verdict != "fail"
    alpha = comparison.rule.alpha
    cheaper = [(row.gain or 0.0) > 0 and (row.two_sided_pvalue or 0.0) / 2 <= alpha for row in costs]
    if not (not_worse and cheaper and all(cheaper)):
        return ""
    return "not worse and cheaper: " + ", ".join(
        f"{row.score or row.name} {difference_in_words(row)} ({interval_of(row)})" for row in costs
    )


def _advice(comparison: ComparedRows, row: ComparisonRow, better: Sequence[ComparisonRow]) -> str:
    """Return the advice. `row`: the row that decides; `better`: the measures by which the candidate is better."""
    if comparison.verdict == "inconclusive" and row.test.kind == "betting":
        return "Go on: the next look adds its rows to these."
    if row.against_bar and row.verdict is not None:
        more = ": ".join(filter(None, ["Check more rows", settled_by(row)]))
        return {"pass": "Accept the model.", "fail": "Do not accept the model."}.get(comparison.verdict, f"{more}.")
    if comparison.verdict == "fail":
        slices = [other for other in comparison.ranked if other.verdict == "fail" and not other.whole]
        if not slices:
            return "Keep the baseline."
        first = min(slices, key=lambda other: (other.adjusted_pvalue or 0.0, other.pvalue or 0.0))
        return f"Keep the baseline. Look at {first.slice} first: the evidence is clearest there."
    if comparison.verdict == "pass":
        return _advice_after_pass(comparison, better)
    if row.verdict is None:
        return f"Compare on data that {row.name} can be computed from, or by other measures."
    return _advice_for_more_rows(comparison, row, better)


def _advice_after_pass(comparison: ComparedRows, better: Sequence[ComparisonRow]) -> str:
    for row in comparison.ranked:
        if row.slice == ALL_ROWS and ((row.low or 0) > 0 if row.lower_is_better else (row.high or 0) < 0):
            margin = amount(row, comparison.rule.margin_of(row))
            return f"You may replace the baseline: {named(row)} is worse by less than the margin of {margin}."
    if better:
        return "Replace the baseline: the candidate is better, and worse nowhere."
    return "You may replace the baseline: the candidate is not worse, and not shown to be better."


def _advice_for_more_rows(comparison: ComparedRows, row: ComparisonRow, better: Sequence[ComparisonRow]) -> str:
    """Return the advice for an inconclusive comparison: a larger smallest effect, known limits, or more data."""
    lean = evidence_in_words(row, comparison.rule)
    if _is_significant(row, comparison.rule):
        unit = ", in % of the baseline" if row.relative else ""
        return f"{lean[:1].upper()}{lean[1:]}. Set --minimum-effect to a {loss(row)} that matters{unit}."
    if not row.test.limited:
        return state_limits(row.measure, row.score or row.name)
    if row.test.kind == "runs":
        return "Compare more runs of both recipes: sigstats compare --run COLUMN --power 0.8 estimates how many."
    if row.test.kind == "gap":
        return "Compare on more rows of the smallest slices: their wide intervals widen that of the gap."
    if row.test.kind == "judged":
        return f"{row.note[:1].upper()}{row.note[1:]}."
    measure = {EXPECTED_COST: "COSTS", "ratio": "A/B"}.get(row.measure, shlex.quote(row.measure))
    plan, size = f"sigstats compare --measure {measure} --power 0.8 with the same files", settled_by(row)
    if row.test.kind == "unpaired" and not size:
        return "Compare both models on the same rows, so that smaller differences can be detected, or use more rows."
    if row.test.kind != "unpaired":
        size = f"{size}; {plan} gives the power for other numbers" if size else f"{plan} estimates how many"
    if row.whole:
        looks = "" if row.silent or lean == NEITHER else f"{lean[:1].upper()}{lean[1:]}. "
        return f"{looks}Compare on more rows: {size}."
    slices = list(dict.fromkeys(other.slice for other in comparison.ranked if other.verdict == "inconclusive"))
    lead = f"The candidate is {'better' if better else 'not worse'} on all rows, but not shown to be safe on"
    where = f" on {row.slice}" if len(slices) > 1 else ""
    now = f" ({row.n:,} now)" if row.deciding is not None else ""
    return f"{lead} {some_of(slices, MOST_NAMED)}. Test more rows there: {settled_by(row) or size}{where}{now}."


def state_limits(measure: str, what: str) -> str:
    """Return the advice to state the limits of scores, called `what`, or those of probabilities for the log loss."""
    of_probabilities = "probabilities (--score-range LOW HIGH, such as 0.001 0.999)"
    scores = of_probabilities if measure == "neg-log-loss" else f"{what} (--score-range LOW HIGH)"
    return f"State the limits of {scores}: without them no number of rows passes."
