"""Several scores of one log, each of which is read as predictions of its own."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Unpack

from sigstats._common.validation import refuse, shown
from sigstats.comparison.candidates import with_names
from sigstats.comparison.paired_predictions import PairedPredictions

from ._log import EvaluationLog
from ._pairing import MatchOptions, join
from ._predictions import ALL_SCORES, Columns, Predictions

#: Reads a file as predictions, or says what its scores are.
Reader = Callable[[str, Columns], Predictions]
Namer = Callable[[str, Columns], tuple[str, ...]]


def names_in(log: EvaluationLog, columns: Columns) -> tuple[str, ...]:
    """The scores of the answers that are meant that are numbers and are the better the higher they are."""
    answers = [
        answer
        for answer in log.answers
        if columns.model in (None, answer.model, log.model) and columns.filter in (None, answer.filter)
    ]
    named = dict.fromkeys(name for answer in answers for name in answer.scores)
    unread = {name for answer in answers for name in answer.unread}
    return tuple(name for name in named if not log.is_lower_better(name, columns) and name not in unread)


class ScoredFile:
    """A file by each of several scores, each read when it is asked for; the score of its columns is no matter."""

    def __init__(self, path: str, columns: Columns, read: Reader):
        self.path, self.columns = path, columns
        self._read = read
        self._found: dict[str | None, Predictions] = {}

    def by(self, score: str | None) -> Predictions:
        """The predictions by one score; classes and ids may be coded."""
        if score not in self._found:
            every = self.columns.score == ALL_SCORES
            self._found[score] = self._read(self.path, replace(self.columns, score=score, one_of_all=every, coded=True))
        return self._found[score]


def scores_meant(
    files: Sequence[tuple[str, Columns]], scores: Sequence[str | None], names: Namer
) -> tuple[str | None, ...]:
    """The scores that several files are compared by: those named, or all, which have to be the same in all files."""
    if len(set(scores)) < len(scores):
        raise refuse("score", ", ".join(map(str, scores)), "each score once")
    if tuple(scores) != (ALL_SCORES,):
        return tuple(scores)
    (first, columns), *rest = files
    meant = names(first, columns)
    if not meant:
        raise ValueError(f"{first}: score: no score is a number of each answer; expected one or more")
    for path, own in rest:
        there = names(path, own)
        for name in sorted(set(meant).symmetric_difference(there)):
            place, other = (path, first) if name in meant else (first, path)
            raise ValueError(
                f"{place}: score: {shown(name)} is not there, but in {other}; expected those that are meant"
            )
    return meant


def join_scores(
    baseline: ScoredFile,
    candidate: ScoredFile,
    scores: Sequence[str | None],
    *,
    with_ids: bool = False,
    **options: Unpack[MatchOptions],
) -> list[PairedPredictions]:
    """The rows that both models predicted, by each score."""
    sides = [(baseline.by(score), candidate.by(score)) for score in scores]
    return with_names([join(*each, baseline.columns, with_ids=with_ids, **options) for each in sides], scores)
