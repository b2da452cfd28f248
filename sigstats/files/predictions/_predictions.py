"""Common form of all formats: ids, labels and predictions as text, one per row, and the items of the rows."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sigstats._common.class_names import NO_ANSWER
from sigstats._common.messages import Note
from sigstats.comparison.paired_predictions import STARTS, OtherColumns

from ..tables.dates import as_dates
from ..tables.spelling import same_spelling
from ..tables.table import in_one

Ints = NDArray[np.int64]

#: At most this many values of other columns are examined, to limit the time for large files.
MOST_VALUES = 2**20
#: The most bytes of a text file of which all columns are read; of larger ones, only the compared columns.
SMALL_FILE = 2**23
_FRACTION, _WHOLE = r"^[+-]?[0-9]*[.,][0-9]*[1-9][0-9]*([^0-9.]|$)", r"^-?[0-9]+(\.0*)?$"
#: An id that ends with a number after a separator.
_NUMBERED = r"^(.*[0-9A-Za-z])[^0-9A-Za-z]+[A-Za-z]*[0-9]+$"
#: Label and prediction of an answer of which only right or wrong is known.
RIGHT, WRONG = "right", "wrong"


class Parted:
    """A record that contains records."""

    PARTS: ClassVar[Mapping[str, type]]

    def but(self, **named: Any) -> Self:
        """A copy with other values of fields, including fields of the contained records."""
        record: Any = self
        for part, kind in self.PARTS.items():
            own = {name: named.pop(name) for name in {*named}.intersection(kind.__annotations__)}
            if own:
                named[part] = replace(getattr(record, part), **own)
        changed: Self = replace(record, **named)
        return changed


@dataclass(frozen=True)
class Outcomes:
    """The true and predicted class of each row, or only the correctness of the answers."""

    label: Any
    #: `label` itself if nothing is predicted.
    prediction: Any
    #: True if there are predictions, not only scores.
    predicted: bool = True
    #: True if the file has only the correctness, or the mark, of each answer.
    graded: bool = False


@dataclass(frozen=True)
class Scores:
    """One number per row: a mark, a cost, or the probability of a class."""

    values: Any
    name: str = ""
    #: The denominators: sums of scores are divided by sums of these.
    per: Any = None
    #: True if the values are lists of the probabilities of all classes (`WithLikeliest.of_classes`).
    of_truth: bool = False
    #: True if a lower score is better; None if the direction is unknown.
    lower: bool | None = False
    #: True if 0 replaces missing values.
    filled: bool = False
    #: True if only the name of the score states the direction.
    by_name: bool = False
    #: The limits of every score, from the log or the table of metrics.
    limits: tuple[float, float] | None = None


@dataclass(frozen=True)
class Source:
    """The metadata of a file."""

    #: Program that wrote a log; empty for a table.
    harness: str = ""
    #: Description of the file: task, model, scorer or metric, filter, epochs.
    subject: Mapping[str, str] = field(default_factory=dict)
    #: The parts of `subject` that a person named.
    meant: frozenset[str] = frozenset()
    #: Settings that should be equal in both files; a note reports others.
    settings: Mapping[str, str] = field(default_factory=dict)
    #: True if the file states that results of one id are answers to one item.
    repeats: bool = False
    #: Advice for repeated ids.
    hint: str = "add --duplicates first, last or all"
    #: All columns of a table, for messages.
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Predictions(Parted):
    """The predictions of one model."""

    PARTS = {"outcomes": Outcomes, "score": Scores, "source": Source}  # noqa: RUF012

    where: str
    #: If codes were requested, ids may be int64 in ascending order, and classes dictionary arrays.
    ids: Any
    outcomes: Outcomes
    score: Scores | None = None
    source: Source = Source()
    #: The columns that options name as groups, slices, weights ..., if the file has them.
    requested: Mapping[str, Any] = field(default_factory=dict)
    #: The number of the answer among several answers to the item `ids`; None if ids are unique.
    epoch: Any = None
    #: The same array as `ids` if the ids are known to be unique.
    distinct: Any = None
    #: True if the ids are the positions of the rows.
    by_position: bool = False
    #: The ids of rows that are joined by their position nevertheless.
    unused_ids: Any = None
    #: Values that identify the question in both files: ``target``, ``input``, ``doc_hash`` ...
    identity: Mapping[str, Any] = field(default_factory=dict)
    #: The other columns of the file, as dictionary arrays, if they were read.
    other_columns: Mapping[str, Any] = field(default_factory=dict)
    #: The number of answers averaged in each row, if rows are averages.
    counts: Any = None
    #: The reason for a missing answer, if a log states it; null otherwise.
    failed: Any = None
    dropped: "Predictions | None" = None
    #: Notes on the file for the user, one per line.
    notes: tuple[Note, ...] = ()

    @property
    def keys(self) -> Any:
        """The unique keys: the ids, with their epochs if there are any."""
        if self.epoch is None:
            return self.ids
        return pc.binary_join_element_wise(self.ids, self.epoch, " epoch ")

    def decoded(self) -> Self:
        """The same with text, and no codes."""
        value = self._changed(lambda column: column.cast(pa.string()), ("ids", "label", "prediction"))
        return replace(value, distinct=value.ids if self.distinct is self.ids else self.distinct)

    def take(self, rows: Any) -> Self:
        """Some of the rows."""
        every = ("ids", "label", "prediction", "values", "per", "epoch", "unused_ids", "counts", "failed")
        value = self._changed(lambda column: column.take(rows), every)
        identity, beside = ({n: v.take(rows) for n, v in item.items()} for item in (self.identity, self.other_columns))
        return replace(value, identity=identity, other_columns=beside)

    def _changed(self, change: Callable[[Any], Any], names: Sequence[str]) -> Self:
        """The same with these columns changed, if they exist, in groups and slices too."""
        there = {**vars(self), **vars(self.outcomes), **(vars(self.score) if self.score else {})}
        changed = {name: change(there[name]) for name in names if there.get(name) is not None}
        return self.but(requested={name: change(column) for name, column in self.requested.items()}, **changed)


def wrong_predictions(predictions: Predictions) -> dict[str, Any]:
    """Labels and predictions; the other one of two classes, or no class of several, replaces a missing prediction."""
    said = predictions.outcomes
    if not said.prediction.null_count:
        return {}
    label, prediction = same_spelling([said.label, said.prediction])
    classes = pc.unique(pa.concat_arrays([label, prediction])).drop_null()
    other: Any = WRONG if predictions.source.harness else NO_ANSWER
    if len(classes) == 2:
        other = pc.if_else(pc.equal(label, classes[0]), classes[1], classes[0])
    return {"label": label, "prediction": pc.coalesce(prediction, other)}


def taken(column: Any, rows: Any) -> Any:
    """Return some rows of a column; the column itself, without a copy, if they are all rows in order.

    `rows`: positions in the `column`, each at most once.
    """
    if len(rows) == len(column) and isinstance(rows, pa.Array) and not rows.null_count:
        positions = np.from_dlpack(rows)
        if bool((positions[1:] > positions[:-1]).all()):
            return column
    return column.take(rows)


def item_codes(ids: Any) -> Ints:
    """Return the number of the item of each row, by first appearance."""
    codes = in_one(pc.index_in(ids, value_set=pc.unique(ids)))
    values: Ints = np.from_dlpack(codes).astype(np.int64)
    return values


def first_rows(codes: Ints) -> Ints:
    """Return the first row of each item."""
    counts = np.zeros(int(codes.max()) + 1, dtype=np.int64)
    counts[codes[::-1]] = np.arange(len(codes))[::-1]
    return counts


def occurrences(ids: Any) -> Any | None:
    """Number the rows of each id from 1, as text; None if every id appears once."""
    codes = item_codes(ids)
    if len(codes) == 0 or int(codes.max()) + 1 == len(codes):
        return None
    return pc.cast(pa.array(places(codes, np.argsort(codes, kind="stable")) + 1), pa.string())


def places(codes: Ints, order: Ints) -> Ints:
    """Number the rows of each item from 0; `order`: all rows, by item."""
    starts = np.searchsorted(codes[order], np.arange(codes.max() + 1))
    by_order = np.empty(len(codes), dtype=np.int64)
    by_order[order] = np.arange(len(codes)) - starts[codes[order]]
    return by_order


def dictionaries(columns: Mapping[str, Any], rows: int) -> dict[str, Any]:
    """Return Arrow columns as dictionary arrays; empty if there are too many values, or lists or objects."""
    if (len(columns) + 1) * rows > MOST_VALUES:
        return {}
    by_name = {}
    for name, column in columns.items():
        try:
            whole = in_one(column)
            by_name[name] = whole if pa.types.is_dictionary(whole.type) else whole.dictionary_encode()
        except (pa.ArrowException, NotImplementedError):
            return {}
    return by_name


def other_column_codes(first: Predictions, other: Predictions, rows: Any = None, partners: Any = None) -> OtherColumns:
    """Return the content of shared rows outside the compared columns, as codes from 0.

    First the joint codes of all columns of both files (of logs: the question); None if there are none. Then the codes
    of columns that may name groups: complete, equal in both files, without fractions; and which are dates and numbers.
    """
    sides = []
    for side, chosen in ((first, rows), (other, partners)):
        asked = without_target(side.identity) if side.epoch is None else {}
        value = side.other_columns or dictionaries(asked, len(side.ids))
        sides.append({n: v if chosen is None else v.take(chosen) for n, v in value.items() if len(v) == len(side.ids)})
    codes = [{name: _codes(item) for name, item in side.items()} for side in sides]
    told = next(filter(None, codes), None)
    starts = _starts(first.ids if rows is None else first.ids.take(rows))
    if not told or not len(next(iter(told.values()))):
        return OtherColumns(columns=starts)
    from sigstats._common.copies import equal_by_chance
    from sigstats._common.data_frames import joint_codes

    columns = {name: [side[name] for side in sides if name in side] for name in told}
    alike = {
        name: own
        for name, own in told.items()
        if not any(part.null_count or pc.any(_matches(part, _FRACTION)).as_py() for part in columns[name])
        and all(name not in side or _same_parts(own, side[name]) for side in codes)
    }
    times = [name for name in alike if all(as_dates(part.dictionary) is not None for part in columns[name])]
    numbers = {name for name in alike if all(pc.all(_matches(part, _WHOLE)).as_py() for part in columns[name])}
    question = [told[name] for name in without_target(first.identity) if name in told]
    others = [own for name, own in codes[1].items() if name not in told or not _same_parts(told[name], own)]
    if any(_same_parts(starts[STARTS], codes) for codes in alike.values() if starts):
        starts = {}
    parts = question or [*told.values(), *others]
    content = joint_codes(parts)
    return OtherColumns(None if equal_by_chance(content, parts) else content, alike | starts, times, numbers)


def _starts(ids: Any) -> dict[str, Ints]:
    """Return the codes of the starts of ids; empty unless all ids end with a number after a separator, as doc12_q3."""
    if not pa.types.is_string(ids.type) or not pc.all(pc.match_substring_regex(ids, _NUMBERED)).as_py():
        return {}
    return {STARTS: item_codes(pc.replace_substring_regex(ids, _NUMBERED, r"\1"))}


def without_target(identity: Mapping[str, Any]) -> dict[str, Any]:
    """Return the question of a log without its answer."""
    return {name: item for name, item in identity.items() if not name.startswith("target")}


def _codes(column: Any) -> Ints:
    texts, dates = column.dictionary.cast(pa.string()), as_dates(column.dictionary)
    whole = dates is None and pc.all(_matches(column, _WHOLE)).as_py()
    values = texts.cast(pa.float64()) if whole else dates
    places = range(len(texts)) if values is None else pc.rank(values)
    indices = column.indices.cast(pa.int64())
    if indices.null_count:
        indices = pc.fill_null(indices, -1)  # imports pandas
    return np.unique(np.append(places, -1)[np.from_dlpack(indices)], return_inverse=True)[1].astype(np.int64)


def _matches(column: Any, pattern: str) -> Any:
    return pc.match_substring_regex(column.dictionary.cast(pa.string()), pattern)


def _same_parts(one: Ints, other: Ints) -> bool:
    if np.array_equal(one, other):
        return True
    pairs = np.unique(one * (int(other.max()) + 1) + other)
    return len(pairs) == len(np.unique(one)) == len(np.unique(other))
