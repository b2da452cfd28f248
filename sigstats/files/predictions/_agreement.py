"""Checks that two files have the same task and score, and the same question under the same id."""

import filecmp
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sigstats._common.messages import Note, did_you_mean, shown

from ..inputs.places import files_of
from ..tables.spelling import is_text, same_spelling
from ..tables.table import Table, in_one
from ._log import PROMPT
from ._predictions import Predictions, taken

ALLOW = "(--allow-different-tasks compares them all the same)"


def require_one_kind(first: Predictions, other: Predictions, *, same_task: bool = False) -> None:
    """Refuse a log together with a table, and a table of marks together with one of classes.

    `same_task`: also refuse logs of different programs, tasks, scores or filters, unless the user named them for both.
    """
    if first.outcomes.graded != other.outcomes.graded:
        here, there = (
            "a log" if side.source.harness else "a table without labels" if side.outcomes.graded else "a table"
            for side in (other, first)
        )
        raise ValueError(f"{other.where}: is {here}, and {first.where} is {there}; expected two logs or two tables")
    if first.score and other.score and {first.score.lower, other.score.lower} == {True, False}:
        raise ValueError(
            f"{other.where}: states another direction of {shown(other.score.name)} than {first.where}; name one: "
            f"--higher-is-better {other.score.name} or --lower-is-better {other.score.name}"
        )
    if not same_task:
        return
    if first.source.harness != other.source.harness:
        raise ValueError(
            f"{other.where}: is a log of {other.source.harness}, and {first.where} is one of {first.source.harness}; "
            f"expected logs of the same program {ALLOW}"
        )
    for name in ("task", "scorer", "metric", "filter"):
        own, its = other.source.subject.get(name), first.source.subject.get(name)
        if own and its and own != its and name not in first.source.meant & other.source.meant:
            raise ValueError(
                f"{other.where}: {name} {shown(own)} is not that of {first.where}, {shown(its)}; "
                f"expected the same {name} {ALLOW}"
            )


def lower_in_both(*sides: Predictions) -> bool | None:
    """True if a lower score is better; None if neither side states it, or values below 0 contradict a cost's name."""
    scores = [side.score for side in sides if side.score is not None]
    if any(score.lower and score.by_name and (pc.min(score.values).as_py() or 0.0) < 0 for score in scores):
        return None
    return next((score.lower for score in scores if score.lower is not None), None)


def differing(a: Any, b: Any) -> Any:
    """The rows in which two columns have different values; null is not a difference."""
    return pc.indices_nonzero(pc.not_equal(a[:0], b[:0]) if a.equals(b) else pc.not_equal(a, b))


def _first_difference(a: Any, b: Any) -> Iterator[tuple[int, str, str]]:
    """Yield the first place where two columns differ, both values, and the number of other such places."""
    if len(differs := differing(a, b)):
        at, others = differs[0].as_py(), len(differs) - 1
        mine, its = difference_shown(a[at].as_py(), b[at].as_py())
        yield at, mine, f"{its} (and {others:,} more)" if others else its


class Matched(NamedTuple):
    """The rows that two files have in common."""

    first: Predictions
    other: Predictions
    #: The positions of these rows in both files.
    rows: Any
    partners: Any
    #: A line for each file with ids that the other file lacks.
    notes: tuple[Note, ...] = ()

    def both(self, column: Any, its: Any) -> tuple[Any, Any]:
        """A column of both files, restricted to these rows."""
        return taken(column, self.rows), taken(its, self.partners)

    def same(self, a: Any, b: Any, *, what: str, wanted: str) -> Any:
        """A column that is equal in both files; otherwise a ValueError names the first row with different values."""
        for at, mine, its in _first_difference(b, a):
            first, other = self[:2]
            row = f"{'row' if first.by_position else 'id'} {shown(str(first.ids.take(self.rows)[at].as_py()))}"
            told = f"{what} {mine} is not that of {first.where}, {its}; expected {wanted}"
            raise ValueError(f"{other.where}: {row}: {told}")
        return a

    def column(self, name: str) -> Any:
        """A column of slices or groups, which must be the same in both files if both have it."""
        (mine, its), (first, other) = (side.requested.get(name) for side in self[:2]), self[:2]
        if mine is not None and its is not None:
            a, b = same_spelling(self.both(mine, its))
            return self.same(a, b, what=f"column {shown(name)}:", wanted="the same in both")
        if mine is None and its is None:
            near = did_you_mean(name, (*first.source.names, *other.source.names))
            nor = "" if other.where == first.where else f", nor in {other.where}"
            raise ValueError(f"{first.where}: column {shown(name)} was not found{nor}{near}")
        return taken(its, self.partners) if mine is None else taken(mine, self.rows)

    def answers(self) -> tuple[Any, Any, Any]:
        """The labels, and the predictions of both files, spelled alike."""
        first, other = self.first.outcomes, self.other.outcomes
        label, its, a, b = same_spelling(
            [*self.both(first.label, other.label), *self.both(first.prediction, other.prediction)]
        )
        return self.same(label, its, what="label", wanted="the same labels"), a, b

    def check_questions(self) -> None:
        """Refuse other targets, inputs or hashes of a question under the same id."""
        for name, a, b in self._questions():
            by_name = "" if name in self.first.identity else f", or --id {name}"
            self.same(a, b, what=name, wanted=f"the same questions{by_name} {ALLOW}")

    def differing_questions(self) -> tuple[Note, ...]:
        """A note on the number of rows with other questions under the same id; empty if all are the same."""
        differs = np.zeros(len(self.rows), dtype=bool)
        for _, a, b in self._questions():
            differs[np.from_dlpack(differing(a, b))] = True
        n, where = int(differs.sum()), self.first.where
        told = f"{self.other.where}: {n:,} of {len(differs):,} rows have other questions than in {where}"
        return (Note("differing-questions", told),) if n else ()

    def _questions(self) -> Iterator[tuple[str, Any, Any]]:
        its = self.other.identity
        for name, column in self.first.identity.items():
            hashed = name == "doc" and "doc_hash" in self.first.identity and "doc_hash" in its
            if name in its and name != PROMPT and not hashed:
                yield name, *self.both(column, its[name])
        if bool((np.diff(np.from_dlpack(self.partners)) > 0).all()):  # ids may be numbers of rows
            mine, its = self.first.other_columns, self.other.other_columns
            yield from moved({name: self.both(mine[name], its[name]) for name in mine if name in its})

    def conditions(self) -> list[Note]:
        """A note on each setting that differs between the files, and one if prompts of the same questions differ."""
        first, other = self[:2]
        notes, its = [], other.source.settings
        for name, value in first.source.settings.items():
            if its.get(name, value) != value:
                here, there = difference_shown(its[name], value)
                told = f"{name} is {there} in {first.where} and {here} in {other.where}"
                notes.append(Note("differing-settings", told))
        if PROMPT in first.identity and PROMPT in other.identity:
            a, b = self.both(first.identity[PROMPT], other.identity[PROMPT])
            if n := len(differing(a, b)):
                why = "another template, other examples or choices"
                told = f"{other.where}: {n:,} of {len(a):,} prompts are not those of {first.where} ({why})"
                notes.append(Note("differing-prompts", told))
        return notes


def moved(columns: Mapping[str, tuple[Any, Any]]) -> Iterator[tuple[str, Any, Any]]:
    """Yield columns of texts of both files, as they are joined, whose texts belong to other rows of the other file.

    Nine in ten of the texts that differ occur once in each file. Numbers are not examined, since they may be ranks.
    """
    for name, both in columns.items():
        if all(is_text(part.type.value_type) for part in both):
            a, b = (part.cast(pa.string()) for part in both)
            if not len(texts := a.take(differing(a, b))):
                continue
            elsewhere = texts.filter(pc.match_substring_regex(texts, r"[^0-9.+-]"))
            for column in (a, b):
                counts = pc.value_counts(column)
                once = counts.field("values").filter(pc.call_function("equal", [counts.field("counts"), pa.scalar(1)]))
                elsewhere = elsewhere.filter(pc.is_in(elsewhere, value_set=once))
            if 10 * len(elsewhere) >= 9 * len(texts):
                yield name, a, b


def difference_shown(here: str, there: str) -> tuple[str, str]:
    """Short forms of two texts that are not equal, which differ."""
    texts = shown(here), shown(there)
    if texts[0] != texts[1]:
        return texts
    start = max(0, len(os.path.commonprefix([here, there])) - 10)  # noqa: RUF071 - texts, no paths
    return f"...{shown(here[start : start + 30])}", f"...{shown(there[start : start + 30])}"


def same_content(one: str, other: str) -> bool:
    """True if two files, folders or patterns of this machine have the same bytes; False if that is unknown."""
    if "://" in one or "://" in other:
        return False
    try:
        first, second = (files_of(path) or [path] for path in (one, other))
        return len(first) == len(second) and all(
            filecmp.cmp(name, beside, shallow=False) for name, beside in zip(first, second, strict=True)
        )
    except (OSError, ValueError):
        return False


def truth_of(truth: Predictions, ids: Any, where: str, *, positions: bool, drop: bool) -> Predictions:
    """The rows of the file of labels for these ids, or in the same order; null for ids that it lacks if `drop`."""
    if positions != truth.by_position:
        raise ValueError(f"{(truth.where if positions is False else where)}: has no ids; expected --by-position")
    if positions:
        if len(truth.outcomes.label) != len(ids):
            told = f"{where}: has {len(ids):,} rows, and {truth.where} {len(truth.outcomes.label):,}; expected as many"
            raise ValueError(told)
        return truth
    of_ids, known = same_spelling([ids, truth.ids])
    if (distinct := pc.count_distinct(known).as_py()) < len(known):
        text = pc.cast(truth.outcomes.label, pa.string())
        pairs = pa.table({"id": known, "label": text}).group_by(["id", "label"]).aggregate([])["id"].to_pylist()
        if len(pairs) > distinct:
            odd = next(key for key, times in Counter(pairs).items() if times > 1)
            raise ValueError(f"{where}: id {shown(odd)} has several labels in {truth.where}; give each row one label")
        truth = replace(truth, requested={})  # which of its rows lends a slice is not known
    rows = pc.index_in(of_ids, value_set=known)
    if rows.null_count and not drop:
        odd = of_ids.filter(pc.is_null(rows))[0].as_py()
        raise ValueError(f"{where}: id {shown(odd)} has no label in {truth.where}; add it, or --unscored drop")
    return truth.take(rows)


def without_predictions(truth: Predictions, ids: Sequence[Any]) -> list[Note]:
    """A note on the labelled rows that no file of predictions answers."""
    given, known = same_spelling([pa.concat_arrays(map(in_one, ids)), truth.ids])
    known = pc.unique(known)
    lacking = pc.sum(pc.invert(pc.is_in(known, value_set=pc.unique(given)))).as_py()
    told = f"{lacking:,} of {len(known):,} rows of {truth.where} have no prediction here; they are left out"
    return [Note("unpredicted-labels", told)] * bool(lacking)


def check_same(table: Table, name: str, own: Any, other: Any, where: str, wanted: str = "the same in both") -> None:
    """Refuse a column that differs from that in the file of labels."""
    for at, mine, its in _first_difference(*same_spelling([own, other.cast(pa.string())])):
        raise table.error(name, f": {mine} is not the value in {where}, {its}; expected {wanted}", at)
