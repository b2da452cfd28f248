"""The content of an evaluation log of a language model: answers to items, and their scores.

The readers of logs fill this record and decide nothing: `_selection.py` chooses the score that is compared, and
`_settling.py` settles answers without one and results that repeat an id.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from sigstats._common.messages import Note, shown
from sigstats.measures.metrics import limits_of

from ._columns import Columns

#: The key in the identity of an answer for the whole prompt. Different prompts are noted, and not refused.
PROMPT = "prompt"
#: Name of the column of tasks: ``--slice task``.
TASK = "task"
#: In `Answer.unread`, the type of an infinite score.
INFINITE = "infinite"
K = TypeVar("K")


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """One answer to one item."""

    #: The id of the item.
    item: str
    #: Each score by its name; missing scores are left out.
    scores: Mapping[str, float]
    #: Number of this answer among those to the item, from 1.
    epoch: int = 1
    #: Filter that extracted the answer from the response, if the harness scores each answer once per filter.
    filter: str = ""
    #: The model that answered, in a file of several models; empty in a file of one.
    model: str = ""
    #: For each score that is not a number, its type in words ("a list").
    unread: Mapping[str, str] = field(default_factory=dict)
    #: Fields that are equal for the same question: ``target``, ``input``, ``doc_hash`` ...; and `PROMPT`.
    identity: Mapping[str, str] = field(default_factory=dict)
    #: The metadata that slices and groups are taken from, or that may cluster errors; None is missing.
    about: Mapping[str, Any] = field(default_factory=dict)
    #: The reason for missing scores; empty if unknown. An answer that failed as a whole has no scores.
    failed: str = ""

    @property
    def named(self) -> tuple[str, ...]:
        """The names of all scores, including those that are not numbers."""
        return (*self.scores, *self.unread)


@dataclass(frozen=True, kw_only=True)
class EvaluationLog:
    """The answers of one model to the items of one task."""

    where: str
    #: Usual name of the program that wrote it.
    harness: str
    #: One answer per result, even if several results have the same item, epoch, filter and model.
    answers: Sequence[Answer]
    #: True if the program repeats items, so that several results of an item are separate answers.
    repeats: bool = False
    #: Empty if the file does not give it.
    task: str = ""
    model: str = ""
    #: The harness's word for a score, ``"metric"`` or ``"scorer"``.
    kind: str = "metric"
    #: Scores whose better direction the file gives: True if lower is better.
    lower_is_better: Mapping[str, bool] = field(default_factory=dict)
    #: Scores that are shares according to the file: right or wrong answers, or marks from 0 to 1.
    shares: frozenset[str] = frozenset()
    #: Scores that the file declares, even if no answer has them.
    scored: tuple[str, ...] = ()
    #: Settings that should be equal for a fair comparison, such as the version of the task. A note reports others.
    settings: Mapping[str, str] = field(default_factory=dict)
    #: The mean over all answers that the file reports, by score and filter.
    stated: Mapping[tuple[str, str], Any] = field(default_factory=dict)
    #: Scores or filters of the tasks of a folder that a common name stands for.
    called: Mapping[str, str] = field(default_factory=dict)
    #: Notes on the file, one line each.
    notes: tuple[Note, ...] = ()

    def is_lower_better(self, score: str, columns: Columns) -> bool | None:
        """Return True if lower scores are better by the user, the log or the metrics table; None if none states it."""
        if score in self.lower_is_better and score not in (*columns.scoring.lower, *columns.scoring.higher):
            return self.lower_is_better[score]
        return columns.scoring.is_lower_better(score)

    def limits(self, score: str) -> tuple[float, float] | None:
        """Return the limits of every value of a score, as the log or the table of metrics states them."""
        return (0.0, 1.0) if score in self.shares else limits_of(score)

    def total_notes(self, score: str, chosen: str) -> tuple[Note, ...]:
        """Return a note if the stated mean, rounded, is not that of the answers, even with unscored ones as wrong."""
        marks = [answer.scores.get(score) for answer in self.answers if answer.filter == chosen]
        stated, scored = self.stated.get((score, chosen)), [mark for mark in marks if mark is not None]
        if isinstance(stated, bool) or not isinstance(stated, (int, float)) or not scored:
            return ()
        near = 0.5 / len(marks) + 0.5 * 10.0 ** -max(2, len(str(stated).partition(".")[2]))
        means = [sum(scored) / n for n in (len(scored), len(marks))]
        text = f"states {shown(score)} {stated:.4g}, but the mean of its {len(marks):,} answers is {means[0]:.4g}"
        return (Note("other-total", f"{self.where}: {text}"),) * all(abs(mean - stated) > near for mean in means)


def make_answer(
    item: str, values: Mapping[str, Any], about: Mapping[str, Any], columns: Columns, **more: Any
) -> Answer:
    """Return an answer with the numbers among `values` as scores, and metadata: single values, and `columns`.

    Truth values are 1 and 0. None and NaN are missing.
    """
    scores, unread = {}, {}
    for name, value in values.items():
        if isinstance(value, (bool, int, float)):
            try:
                number = float(value)
            except OverflowError:
                number = math.inf
            if math.isfinite(number):
                scores[name] = number
            elif not math.isnan(number):
                unread[name] = INFINITE
        elif isinstance(value, str):
            unread[name] = f"the text {value[:40]!r}"
        elif value is not None:
            unread[name] = "a list" if isinstance(value, (list, tuple)) else "an object"
    kept: dict[str, Any] = {name: value for name, value in about.items() if isinstance(value, str | int | float)}
    kept |= {name: about.get(name) for name in columns.optional}
    return Answer(item=item, scores=scores, unread=unread, about=kept, **more)


def graded_by(*scores: str) -> dict[str, Any]:
    """Return the fields of a log that states which answers are right by these scores."""
    return {"lower_is_better": dict.fromkeys(scores, False), "shares": frozenset(scores)}


def add_result(by_key: dict[K, list[dict[str, Any]]], key: K, values: Mapping[str, Any]) -> None:
    """Add scores that a log lists in pieces to the results of an item; a repeated score begins a second result."""
    results = by_key.setdefault(key, [{}])
    for name, value in values.items():
        result = next((item for item in results if name not in item), None)
        if result is None:
            results.append(result := {})
        result[name] = value


def empty_answers(where: str, n: int, total: int) -> tuple[Note, ...]:
    """Return a note on answers without content, as patches and responses may be."""
    text = f"{where}: {n:,} of {total:,} answers are empty; they count as the log scores them"
    return (Note("empty-answers", text),) if n else ()


def missing_answers(where: str, stated: Any, n: int, what: str = "answers") -> tuple[Note, ...]:
    """Return a note if a log states more answers than it contains; `where` is empty if the file is named later."""
    text = f"{where}: states {stated} {what} and contains {n:,}; the others are not counted".removeprefix(": ")
    return (Note("incomplete-log", text),) if isinstance(stated, (int, float)) and stated > n else ()


def other_count(where: str, stated: Any, n: int, what: str) -> tuple[Note, ...]:
    """Return a note if a log states another number of outcomes than it lists."""
    is_number = isinstance(stated, int) and not isinstance(stated, bool)
    text = f"{where}: states {stated} {what} but lists {n:,}; the listed ones are used"
    return (Note("other-total", text),) if is_number and stated != n else ()


def share_of(passed: Any, failed: Any) -> float | None:
    """Return the share of passed answers that a log states; None if it does not."""
    known = isinstance(passed, int) and isinstance(failed, int) and passed + failed > 0
    return passed / (passed + failed) if known else None


def mapping(value: Any) -> Mapping[str, Any]:
    """Return an object of a log; an empty one if the value is something else."""
    return value if isinstance(value, dict) else {}


def text(value: Any) -> str:
    """Return a text of a log; an empty one if the value is something else."""
    return value if isinstance(value, str) else ""


def objects(value: Any) -> list[Mapping[str, Any]]:
    """Return the objects in a list of a log; empty if the value is not a list of objects."""
    return [mapping(item) for item in value] if isinstance(value, list) else []


def to_texts(values: Mapping[str, Any]) -> dict[str, str]:
    """Return the present values, as text."""
    return {name: str(value) for name, value in values.items() if value is not None}
