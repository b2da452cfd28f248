"""Two models as a judge sees them, corrected by the labels of people: the files, the verdict, text and JSON."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sigstats._common.messages import printable
from sigstats._common.note import Note, notes_as_objects
from sigstats._common.validation import Alternative, shown
from sigstats.comparison.answer import Answer, finding_of
from sigstats.comparison.cells import difference_in_words, interval_of
from sigstats.comparison.paired_predictions import as_score_range
from sigstats.comparison.rows import ComparisonRow
from sigstats.comparison.rule import ComparisonRule, Verdict
from sigstats.effects import accuracy_difference
from sigstats.files.predictions import Columns, Predictions, Unmatched, match, read
from sigstats.files.tables.spelling import same_spelling
from sigstats.judged.judged_test import JudgeAgreement, JudgedResult, judged_test

from ..pages.wording import count_of, p_equation, percent, percent_range
from .for_programs import JSON_VERSION, KEYS_OF_TESTS, answer_as_object, as_object

PREFERS = ("the judge prefers the baseline", "it prefers neither", "it prefers the candidate")


@dataclass(frozen=True)
class JudgedComparison:
    """The corrected comparison of candidate and baseline; differences are candidate minus baseline."""

    baseline: str
    candidate: str
    #: The column of the labels of people.
    human: str
    rule: ComparisonRule
    #: With the candidate as A.
    result: JudgedResult
    #: The p-value of "the candidate is not worse".
    p_worse: float
    notes: tuple[Note, ...]
    #: Whether judge and people give marks.
    marks: bool = False

    @property
    def verdict(self) -> Verdict:
        """The verdict by the rule of all comparisons."""
        low = self.result.confidence_interval.low
        return self.rule.verdict(adjusted_pvalue=self.p_worse, difference=self.result.estimate, low=low)

    @property
    def corrected(self) -> ComparisonRow:
        """The difference that people would see, as a row of a comparison."""
        result = self.result
        return ComparisonRow(
            slice="all rows as people see them",
            measure="mean-score" if self.marks else "accuracy",
            n=result.n,
            difference=result.estimate,
            low=result.confidence_interval.low,
            high=result.confidence_interval.high,
            verdict=self.verdict,
        )

    @property
    def answer(self) -> Answer[ComparisonRow]:
        """The verdict, the difference that people would see, and the labels to get next."""
        row, labels = self.corrected, labels_to_get(self.result)
        known = {"fail": "Keep the baseline.", "pass": "You may replace the baseline."}
        advice = known.get(self.verdict, f"{labels[:1].upper()}{labels[1:]}.")
        return Answer(verdict=self.verdict, row=row, finding=finding_of(row, self.rule), advice=advice)

    @property
    def by_judge(self) -> ComparisonRow:
        """The judge's own difference, with the score interval of verdicts on independent rows."""
        result = self.result
        row = replace(
            self.corrected,
            slice="all rows as the judge sees them",
            difference=result.judge_estimate,
            low=None,
            high=None,
            verdict=None,
        )
        if self.marks or result.n_groups is not None:
            return row
        behind, _, ahead = result.rows
        interval = accuracy_difference(
            ahead, behind, result.n, confidence_level=self.rule.confidence_level
        ).confidence_interval
        return replace(row, low=interval.low, high=interval.high)


def compare_judged(
    paths: tuple[str, str],
    columns: Sequence[Columns],
    human: Sequence[str],
    rule: ComparisonRule,
    *,
    labels: Sequence[str] = (),
    unmatched: Unmatched,
    allow_different_tasks: bool,
    score_range: Sequence[float] | None = None,
) -> JudgedComparison:
    """The comparison of two files with the verdicts of a judge, and the labels of people.

    `human`: the column of people's labels, or one for the baseline and one for the candidate. `labels`: the file with
    these columns, or one per model; by default the files of the verdicts.
    `score_range`: the limits of marks, where judge and people give marks.
    """
    limits = as_score_range(score_range)
    sides = zip(paths, columns, _of_both(human), _of_both(labels or paths), strict=True)
    baseline, candidate = (_side(*side, limits) for side in sides)
    matched = match(baseline.judged, candidate.judged, unmatched=unmatched, allow_different_tasks=allow_different_tasks)
    (judge_b, people_b), (judge_a, people_a) = baseline.at(matched.rows), candidate.at(matched.partners)
    groups = None if baseline.groups is None else baseline.groups[np.asarray(matched.rows)]

    def test(alternative: Alternative) -> JudgedResult:
        return judged_test(
            judge_a,
            judge_b,
            people_a,
            people_b,
            groups=groups,
            score_range=limits,
            alternative=alternative,
            confidence_level=rule.confidence_level,
            n_resamples=max(rule.n_resamples, 999),
            rng=rule.rng,
        )

    return JudgedComparison(
        printable(paths[0]),
        printable(paths[1]),
        human=printable(", ".join(human)),
        rule=rule,
        result=test("two-sided"),
        p_worse=test("less").pvalue,
        notes=tuple(dict.fromkeys((*baseline.notes, *candidate.notes, *matched.notes))),
        marks=limits is not None,
    )


@dataclass(frozen=True)
class _Side:
    """One file: its rows, the judge's verdicts or marks, the labels of people (NaN if there is none), the groups."""

    judged: Predictions
    verdicts: NDArray[np.float64]
    labels: NDArray[np.float64]
    groups: NDArray[np.int64] | None
    notes: tuple[Note, ...]

    def at(self, rows: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        where = np.asarray(rows)
        return self.verdicts[where], self.labels[where]


def _of_both(named: Sequence[str]) -> Sequence[str]:
    """The names for the baseline and the candidate."""
    return named if len(named) > 1 else (named[0], named[0])


def _side(path: str, columns: Columns, human: str, labels: str, limits: tuple[float, float] | None) -> _Side:
    if columns.score is not None:  # the judge gives marks, and a column of labels is people's or nobody's
        columns = replace(columns, label=columns.id)
    judged = read(path, columns).decoded()
    labelled = _labels(path, columns, human, labels)
    if judged.score is not None and judged.score.lower:
        raise ValueError(f"{path}: score: {shown(columns.score)} is a cost; expected marks of which higher is better")
    if judged.score is not None:
        marks = np.asarray(judged.score.values.to_numpy(zero_copy_only=False), dtype=np.float64)
        verdicts = marks if limits is not None else _required(marks, path, columns.score or "score", None)
    else:
        pairs = zip(judged.said.label.to_pylist(), judged.said.prediction.to_pylist(), strict=True)
        verdicts = np.array([float(a == b) for a, b in pairs])
    assert labelled.score is not None
    marks = np.asarray(labelled.score.values.to_numpy(zero_copy_only=False), dtype=np.float64)
    given = _required(marks, labels, human, limits)
    keys, of_people = (column.to_pylist() for column in same_spelling([judged.keys, labelled.keys]))
    of_id = dict(zip(of_people, given.tolist(), strict=True))
    others = len(of_id.keys() - set(keys))
    if others == len(of_id):
        raise ValueError(f"{labels}: shares no id with {path}; expected labels of its rows")
    said = f"{labels}: {count_of(others, 'label')} of rows that {path} lacks, left out"
    notes = (*judged.notes, *([Note("unmatched-labels", said)] if others else []))
    groups = None
    if (group := columns.units.group) is not None:
        if group != columns.id and group not in judged.others:
            raise ValueError(f"{path}: column {shown(group)} was not found; expected the group of each row")
        names = judged.ids if group == columns.id else judged.others[group]
        groups = np.unique(names.to_pylist(), return_inverse=True)[1]
    by_people = np.array([of_id.get(key, np.nan) for key in keys], dtype=np.float64)
    return _Side(judged, verdicts, by_people, groups, notes)


def _labels(path: str, columns: Columns, human: str, labels: str) -> Predictions:
    """The labels of people; a separate file of labels has ids too."""
    if labels != path:
        columns = Columns(id=columns.id, label=columns.id)
    return read(labels, replace(columns, score=human, unscored="drop")).decoded()


def _required(
    marks: NDArray[np.float64], path: str, name: str, limits: tuple[float, float] | None
) -> NDArray[np.float64]:
    valid = (marks == 0) | (marks == 1) if limits is None else ~((marks < limits[0]) | (marks > limits[1]))
    if not valid.all():
        mark, wanted = f"{marks[~valid][0]:g}", "--score-range with the limits of"
        said = f"is not a verdict; expected 1 (right) or 0 (wrong), or {wanted} marks"
        if limits is not None:
            said = f"is not within {limits[0]:g} and {limits[1]:g}; expected {wanted} people's marks"
        raise ValueError(f"{path}: column {shown(name)}: {mark} {said}")
    return marks


def as_text(comparison: JudgedComparison) -> str:
    """The verdict, the judge's difference and the corrected one, the judge's agreement, and the labels to get next."""
    result, corrected = comparison.result, comparison.corrected
    interval = f"{percent(result.confidence_interval.confidence_level)} interval {interval_of(corrected)}"
    p = p_equation(comparison.p_worse)
    grouped = "" if result.n_groups is None else f" in {count_of(result.n_groups, 'group')}"
    lines = [
        comparison.answer.headline,
        comparison.answer.advice,
        f"{comparison.candidate} against {comparison.baseline}, {count_of(result.n, 'row')}{grouped} judged",
        f"labels of people ({comparison.human}): {count_of(result.n_labels, 'row')}",
        *(f"note: {note}" for note in (*comparison.notes, *result.reason.split("; ")) if note),
        f"the judge's difference: {difference_in_words(comparison.by_judge)}",
        f"corrected by people: {difference_in_words(corrected)} ({interval}), {p} of not worse",
    ]
    for name, agreement in zip((comparison.candidate, comparison.baseline), result.agreement, strict=True):
        lines.append(f"judge and people on {name}: {', '.join(rates(agreement))}")
    return "\n".join([*lines, guarantee_of(result)])


def rates(agreement: JudgeAgreement) -> Iterator[str]:
    """The agreement of judge and people, and the shares that the judge passes, with intervals."""
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


def guarantee_of(result: JudgedResult) -> str:
    """Why the interval holds."""
    if result.guarantee == "exact":
        return "guarantee: exact, as the judge prefers the same on all rows"
    return "guarantee: by simulation; not proved for every judge"


def labels_to_get(result: JudgedResult) -> str:
    """The number of labels that would show a difference, and the rows to label."""
    if result.labels_wanted is None:
        return "judge more rows: labels of all of these would probably not show a difference"
    more = [max(0, want - there) for want, there in zip(result.labels_wanted, result.labels, strict=True)]
    if not sum(more):
        return "the present labels show a difference"
    where = ", ".join(f"{labels:,} where {who}" for labels, who in zip(more, PREFERS, strict=True) if labels)
    return f"label {sum(more):,} more, which show the difference if people go on as they began: {where}"


def as_json(result: JudgedComparison) -> str:
    """All of it, under the names of the fields of `sigstats.results.JudgedResult`, the candidate as A."""
    content: dict[str, Any] = {
        "version": JSON_VERSION,
        "verdict": result.verdict,
        "answer": answer_as_object(result.answer),
        "baseline": result.baseline,
        "candidate": result.candidate,
        "human": result.human,
        "rule": result.rule.by_keys(),
        "notes": notes_as_objects(result.notes),
        "p_worse": result.p_worse,
        "agreement": {
            role: agreement._asdict()
            for role, agreement in zip(("candidate", "baseline"), result.result.agreement, strict=True)
        },
        **{name: value for name, value in as_object(result.result, KEYS_OF_TESTS).items() if name != "agreement"},
    }
    return json.dumps(content, indent=2, allow_nan=False)
