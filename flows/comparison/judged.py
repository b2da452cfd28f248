"""Two models as a judge sees them, corrected by the labels of people: the files, the verdict, text and JSON."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sigstats._common.messages import printable
from sigstats._common.validation import Alternative, shown
from sigstats.comparison.rule import ComparisonRule, Verdict
from sigstats.judged.test import JudgeAgreement, JudgedResult, judged_test
from sigstats.tasks.predictions import Columns, Predictions, Unmatched, match, read

from ..pages.wording import count_of, p_equation, percent, percent_range, points, points_range
from .json import JSON_VERSION

_PREFERS = ("the judge prefers the baseline", "it prefers neither", "it prefers the candidate")


@dataclass(frozen=True)
class JudgedComparison:
    """What people would say of candidate and baseline; differences are the candidate's less the baseline's."""

    baseline: str
    candidate: str
    #: The column of the labels of people.
    human: str
    rule: ComparisonRule
    #: With the candidate as A.
    result: JudgedResult
    #: The p-value of "the candidate is not worse".
    p_worse: float
    notes: tuple[str, ...]

    @property
    def verdict(self) -> Verdict:
        """As that of any comparison."""
        low = self.result.confidence_interval.low
        return self.rule.verdict(p_adjusted=self.p_worse, difference=self.result.estimate, low=low)


def compare_judged(
    paths: tuple[str, str], columns: Sequence[Columns], human: str, rule: ComparisonRule, *, unmatched: Unmatched
) -> JudgedComparison:
    """The comparison of two files with the verdicts of a judge, and the labels of people in a column of each.

    Raises ValueError, one line: as `sigstats.tasks.predictions.read` and ``match``, or a value that is no verdict.
    """
    baseline, candidate = (_side(path, each, human) for path, each in zip(paths, columns, strict=True))
    matched = match(baseline.judged, candidate.judged, unmatched=unmatched)
    (judge_b, people_b), (judge_a, people_a) = baseline.at(matched.rows), candidate.at(matched.partners)

    def test(alternative: Alternative) -> JudgedResult:
        return judged_test(
            judge_a,
            judge_b,
            people_a,
            people_b,
            alternative=alternative,
            confidence_level=rule.confidence,
            n_resamples=max(rule.resamples, 999),
            rng=rule.seed,
        )

    return JudgedComparison(
        printable(paths[0]),
        printable(paths[1]),
        human=printable(human),
        rule=rule,
        result=test("two-sided"),
        p_worse=test("less").pvalue,
        notes=tuple(dict.fromkeys((*baseline.judged.notes, *candidate.judged.notes, *matched.notes))),
    )


@dataclass(frozen=True)
class _Side:
    """One file: its rows, the judge's verdicts, and the labels of people (NaN where there is none)."""

    judged: Predictions
    verdicts: NDArray[np.bool_]
    labels: NDArray[np.float64]

    def at(self, rows: Any) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
        where = np.asarray(rows)
        return self.verdicts[where], self.labels[where]


def _side(path: str, columns: Columns, human: str) -> _Side:
    judged = read(path, replace(columns, unscored="refuse")).decoded()
    labelled = read(path, replace(columns, score=human, unscored="drop")).decoded()
    if judged.score is not None:
        marks = np.asarray(judged.score.to_numpy(zero_copy_only=False), dtype=np.float64)
        verdicts = _zero_or_one(marks, path, columns.score or "score")
    else:
        verdicts = np.array(
            [a == b for a, b in zip(judged.label.to_pylist(), judged.prediction.to_pylist(), strict=True)]
        )
    given = _zero_or_one(labelled.score.to_numpy(zero_copy_only=False), path, human)
    of_id = dict(zip(labelled.keys.to_pylist(), given.tolist(), strict=True))
    labels = np.array([of_id.get(each, np.nan) for each in judged.keys.to_pylist()], dtype=np.float64)
    return _Side(judged, verdicts, labels)


def _zero_or_one(marks: Any, path: str, name: str) -> NDArray[np.bool_]:
    other = marks[(marks != 0) & (marks != 1)]
    if len(other):
        raise ValueError(f"{path}: column {shown(name)}: {other[0]:g} is no verdict; expected 1 (right) or 0 (wrong)")
    verdicts: NDArray[np.bool_] = marks == 1
    return verdicts


def as_text(found: JudgedComparison) -> str:
    """The verdict, the judge's difference and the corrected one, the judge's agreement, and the labels to get next."""
    result = found.result
    low, high = result.confidence_interval
    interval = f"{percent(result.confidence_interval.confidence_level)} interval {points_range(low, high)}"
    lines = [
        f"{found.verdict.upper()}: {_shown_by(found)}",
        f"{found.candidate} against {found.baseline}, {count_of(result.n, 'row')} judged",
        f"labels of people ({found.human}): {count_of(result.n_labels, 'row')}",
        *(f"note: {note}" for note in (*found.notes, *result.reason.split("; ")) if note),
        f"the judge's difference: {points(result.judge_estimate)} points",
        f"corrected by people: {points(result.estimate)} points ({interval}), {p_equation(found.p_worse)} of not worse",
    ]
    for name, agreement in zip((found.candidate, found.baseline), result.agreement, strict=True):
        lines.append(f"judge and people on {name}: {', '.join(_rates(agreement))}")
    lines.append(_labels_to_get(result))
    return "\n".join(lines)


def _rates(agreement: JudgeAgreement) -> Iterator[str]:
    """How often judge and people say the same, and what the judge passes, with intervals."""
    right, judge_alone, people_alone, wrong = agreement
    specificity = agreement.specificity()
    for what, ends, count, of in (
        ("agree", agreement.agreement(), right + wrong, sum(agreement)),
        ("passes of right answers", agreement.sensitivity(), right, right + people_alone),
        ("passes of wrong answers", (1 - specificity.high, 1 - specificity.low), judge_alone, judge_alone + wrong),
    ):
        low, high = ends
        shown_rate = f"{percent(count / of)} ({percent_range(low, high)}; {count} of {of})" if of else "none seen"
        yield f"{what} {shown_rate}"


def _shown_by(found: JudgedComparison) -> str:
    """What people are shown to say."""
    low = found.result.confidence_interval.low
    if found.verdict == "fail":
        return "the candidate is worse in the eyes of people"
    drop = f"a drop of more than {points(-low).removeprefix('+')} points"
    return f"{drop} is excluded" if low < 0 else "the candidate is better in the eyes of people"


def _labels_to_get(result: JudgedResult) -> str:
    if result.labels_wanted is None:
        return "labels: no number of them would show a difference, if people go on as they began"
    more = [max(0, want - there) for want, there in zip(result.labels_wanted, result.labels, strict=True)]
    if not sum(more):
        return "labels: those that are there show a difference"
    where = ", ".join(f"{each:,} where {who}" for each, who in zip(more, _PREFERS, strict=True) if each)
    return f"labels: {sum(more):,} more would show the difference, if people go on as they began: {where}"


def as_json(found: JudgedComparison) -> str:
    """All of it, under the names of the fields of `sigstats.results.JudgedResult`, the candidate as A."""
    content: dict[str, Any] = {
        "version": JSON_VERSION,
        "verdict": found.verdict,
        "baseline": found.baseline,
        "candidate": found.candidate,
        "human": found.human,
        "rule": asdict(found.rule),
        "notes": list(found.notes),
        "p_worse": found.p_worse,
        "agreement": {
            role: each._asdict() for role, each in zip(("candidate", "baseline"), found.result.agreement, strict=True)
        },
        **{name: value for name, value in asdict(found.result).items() if name != "agreement"},
    }
    return json.dumps(content, indent=2, allow_nan=False)
