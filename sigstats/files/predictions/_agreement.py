"""Checks that two files have the same task and score, and the same question under the same id."""

import filecmp
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sigstats._common.messages import Note, did_you_mean, shown

from ..inputs.places import files_of
from ..tables.spelling import same_spelling
from ..tables.table import Table, in_one
from ._log import PROMPT
from ._predictions import Predictions, taken

ALLOW = "(--allow-different-tasks compares them all the same)"


def require_one_kind(first: Predictions, other: Predictions, *, same_task: bool = False) -> None:
    """Refuse a log together with a table, and a table of marks together with one of classes.

    `same_task`: also refuse logs of different programs, tasks, scores or filters, unless the user named them for both.
    """
    if first.said.graded != other.said.graded:
        here, there = (
            "a log" if side.source.harness else "a table without labels" if side.said.graded else "a table"
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


def questions(first: Predictions, other: Predictions, rows: Any, partners: Any) -> Iterator[tuple[str, Any, Any]]:
    """The targets, inputs or hashes of the questions in these rows, of those that both files have."""
    for name, column in first.identity.items():
        if name in other.identity and name != PROMPT:
            yield name, taken(column, rows), taken(other.identity[name], partners)


def differing_questions(first: Predictions, other: Predictions, rows: Any, partners: Any) -> tuple[Note, ...]:
    """A line with the number of rows with other questions under the same id; None if all are the same."""
    differs = np.zeros(len(rows), dtype=bool)
    for _, a, b in questions(first, other, rows, partners):
        differs[np.from_dlpack(differing(a, b))] = True
    n = int(differs.sum())
    told = f"{other.where}: {n:,} of {len(rows):,} rows have other questions than in {first.where}"
    return (Note("differing-questions", told),) if n else ()


def same_in_both(name: str, first: Predictions, other: Predictions, rows: Any, partners: Any) -> Any:
    """The column of slices or groups that the files have, the same in both."""
    if name not in first.others or name not in other.others:
        if name in first.others:
            return taken(first.others[name], rows)
        if name in other.others:
            return taken(other.others[name], partners)
        near = did_you_mean(name, (*first.source.names, *other.source.names))
        nor = "" if other.where == first.where else f", nor in {other.where}"
        raise ValueError(f"{first.where}: column {shown(name)} was not found{nor}{near}")
    a, b = same_spelling([taken(first.others[name], rows), taken(other.others[name], partners)])
    require_equal((first, a), (other, b), rows, what=f"column {shown(name)}:", wanted="the same in both")
    return a


def require_equal(
    first: tuple[Predictions, Any], other: tuple[Predictions, Any], rows: Any, *, what: str, wanted: str
) -> None:
    """Refuse two files' columns of joined rows that differ where both have a value, naming the first such row."""
    (one, a), (two, b) = first, other
    differs = differing(a, b)
    if len(differs):
        at = differs[0].as_py()
        mine, its = difference_shown(b[at].as_py(), a[at].as_py())
        more = f" (and {len(differs) - 1:,} more)" if len(differs) > 1 else ""
        raise ValueError(
            f"{two.where}: {'row' if one.by_position else 'id'} {shown(str(one.ids.take(rows)[at].as_py()))}: {what} "
            f"{mine} is not that of {one.where}, {its}{more}; expected {wanted}"
        )


def differing(a: Any, b: Any) -> Any:
    """The rows in which two columns have different values; null is not a difference."""
    return pc.indices_nonzero(pc.not_equal(a[:0], b[:0]) if a.equals(b) else pc.not_equal(a, b))


def differing_conditions(first: Predictions, other: Predictions, rows: Any, partners: Any) -> list[Note]:
    """A line for each setting that differs between the files, and one if prompts of the same questions differ."""
    notes, its = [], other.source.settings
    for name, value in first.source.settings.items():
        if its.get(name, value) != value:
            here, there = difference_shown(its[name], value)
            notes.append(Note("differing-settings", f"{name} is {there} in {first.where} and {here} in {other.where}"))
    if PROMPT in first.identity and PROMPT in other.identity:
        a, b = taken(first.identity[PROMPT], rows), taken(other.identity[PROMPT], partners)
        if n := len(differing(a, b)):
            why = "another template, other examples or choices"
            told = f"{other.where}: {n:,} of {len(a):,} prompts are not those of {first.where} ({why})"
            notes.append(Note("differing-prompts", told))
    return notes


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
        if len(truth.said.label) != len(ids):
            told = f"{where}: has {len(ids):,} rows, and {truth.where} {len(truth.said.label):,}; expected as many"
            raise ValueError(told)
        return truth
    of_ids, known = same_spelling([ids, truth.ids])
    if (distinct := pc.count_distinct(known).as_py()) < len(known):
        text = pc.cast(truth.said.label, pa.string())
        pairs = pa.table({"id": known, "label": text}).group_by(["id", "label"]).aggregate([])["id"].to_pylist()
        if len(pairs) > distinct:
            odd = next(key for key, times in Counter(pairs).items() if times > 1)
            raise ValueError(f"{where}: id {shown(odd)} has several labels in {truth.where}; give each row one label")
        truth = replace(truth, others={})  # which of its rows lends a slice is not known
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


def check_same(table: Table, name: str, own: Any, other: Any, where: str) -> None:
    """Refuse a column that differs from that in the file of labels."""
    own, its = same_spelling([own, other.cast(pa.string())])
    if len(differs := pc.indices_nonzero(pc.not_equal(own, its))):
        at = differs[0].as_py()
        said = f": {shown(own[at].as_py())} is not the value in {where}, {shown(its[at].as_py())}"
        raise table.error(name, f"{said}; expected the same in both", at)
