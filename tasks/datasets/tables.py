"""Conversion of a table of columns to a data set: classes, nominal features and missing values.

A source provides `DataColumns`; `dataset` selects the columns of the study file. Categories and classes are the values
that occur, sorted as strings (numeric classes by value), so that codes depend neither on the order of the rows nor on
the kind of file.
"""

import math
from abc import ABC, abstractmethod
from array import array
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sigstats._common.class_names import refuse_missing_texts
from sigstats._common.class_spelling import DistinctNames, refuse_thousands
from sigstats._common.number_texts import is_number, number_problem
from sigstats._common.validation import MAX_TOTAL, hint, shown
from sigstats.files.inputs.limit import Budget

from .dataset import Dataset

Numbers: TypeAlias = NDArray[np.float64]
Codes: TypeAlias = NDArray[np.int64]

#: Memory of a distinct string in bytes: the object, and its entry in a table of all strings.
TEXT = 150
#: The number of rows that are Python strings at the same time. Other rows are stored as codes.
_CHUNK = 8192


@dataclass(frozen=True)
class Texts:
    """A column of strings: the sorted distinct strings, and the position of each row's string, or -1 if missing."""

    names: tuple[str, ...]
    codes: Codes

    @classmethod
    def of(cls, names: Sequence[str | None], codes: Codes) -> "Texts":
        """Return the column of codes of names. The name None is a missing value; a name may be repeated or unused."""
        present = {names[code] for code in np.unique(codes) if code >= 0}
        kept = sorted(name for name in present if name is not None)
        positions = {name: position for position, name in enumerate(kept)}
        # The last element is for the code -1, which counts from the end.
        lookup = np.array([*(-1 if name is None else positions.get(name, -1) for name in names), -1], dtype=np.int64)
        return cls(tuple(kept), np.take(lookup, codes))

    def numbers(self) -> Numbers:
        """Return the column as numbers. Missing strings become NaN."""
        return np.take(np.array([*map(float, self.names), math.nan]), self.codes)

    def first(self, name: str) -> int:
        """Return the first row with this string."""
        return int((self.codes == self.names.index(name)).argmax())


class DataColumns(ABC):
    """Columns with names. They are read one by one, so that an omitted column is never read."""

    def __init__(self, where: str, names: Sequence[str]) -> None:
        self.where = where
        self.names = list(names)

    @abstractmethod
    def texts(self, name: str) -> Texts:
        """Return a column as strings; raise ValueError if its type has no strings."""

    @abstractmethod
    def numbers(self, name: str) -> Numbers | None:
        """Return a column as numbers, or None if it is nominal; raise ValueError if it is invalid."""

    def row(self, row: int) -> str:
        """Return the name of a row for messages. A table of lines names the line."""
        return f"row {row} (from 0)"

    def error(self, name: str, complaint: str, row: int | None = None) -> ValueError:
        """Return an error about a column, and about a `row` if given, in the form that all such errors have."""
        place = "" if row is None else f", {self.row(row)}"
        return ValueError(f"{self.where}{place}: column {shown(name)}: {complaint}")

    def refuse_mixed(self, name: str, texts: Texts, *, nominal: bool = False) -> None:
        """Raise ValueError if strings may or may not be numbers; `nominal`: by default they are categories."""
        if (ambiguous := number_problem(texts.names, nominal=nominal)) is None:
            return
        others, problem = ambiguous
        row = min(map(texts.first, others[:100]))
        text = shown(texts.names[texts.codes[row]])
        cure = f"list {text} in missing, or the column in nominal"
        if nominal:
            cure = "convert the column to numbers, or list it in nominal"
        elif "comma" in problem:
            cure = "write a point, or list the column in nominal"
        raise self.error(name, f"{text} {problem}; {cure}", row)


class TextColumns(DataColumns):
    """Columns of strings. A column is numeric if all of its strings are numbers."""

    def numbers(self, name: str) -> Numbers | None:
        """Return a column as numbers, or None if no string is a number; raise ValueError if only some are numbers."""
        texts = self.texts(name)
        self.refuse_mixed(name, texts)
        if not all(map(is_number, texts.names)) or not texts.names:
            return None
        refuse_thousands(f"{self.where}: column {shown(name)}", texts.names)
        return texts.numbers()


class Lines(TextColumns):
    """Rows of string fields with line numbers.

    `rows`: for each row the number of its (last) line, counted from 1, and its fields. A missing field is None.
    """

    def __init__(self, where: str, names: Sequence[str], rows: Iterable[tuple[int, Sequence[str | None]]]) -> None:
        super().__init__(where, names)
        self._lines = array("q")
        self._index: list[dict[str | None, int]] = [{} for _ in self.names]
        self._codes = [array("q") for _ in self.names]
        rows, budget = iter(rows), Budget(where)
        while chunk := list(islice(rows, _CHUNK)):
            for line, fields in chunk:
                self._lines.append(line)
                if len(fields) != len(self.names):
                    row = self.row(len(self._lines) - 1)
                    raise ValueError(f"{where}, {row}: {len(fields)} fields; expected {len(self.names)}")
            columns = zip(*(fields for _, fields in chunk), strict=True)
            for index, codes, column in zip(self._index, self._codes, columns, strict=True):
                codes.extend([index.setdefault(field, len(index)) for field in column])
            budget.require(sum(TEXT * len(index) + 8 * len(self._lines) for index in self._index))

    def row(self, row: int) -> str:  # noqa: D102
        return f"line {self._lines[row]}"

    def texts(self, name: str) -> Texts:  # noqa: D102
        position = self.names.index(name)
        return Texts.of([*self._index[position]], np.array(self._codes[position], dtype=np.int64))


def dataset(table: DataColumns, spec: Mapping[str, Any], *, target: str | None = None) -> Dataset:
    """Return the data set in a table.

    `spec`: ``name``, and ``target`` (the class), ``columns`` (the features, in order; all by default), ``drop``
    (columns to leave out), ``nominal`` (columns of numbers that are codes), ``groups`` (the column of groups, such as
    patients), ``folds`` (the column of the fold in which a row is tested) and ``classes`` (strings such as ``none``
    that are classes).
    `target`: the class if `spec` does not name it.
    """
    target = str(spec.get("target", target))
    features = _feature_names(table, spec, target)
    y, classes = _classes(table, target, spec.get("classes", ()))
    columns = [_feature(table, name, as_codes=name in spec.get("nominal", [])) for name in features]
    return Dataset(
        name=spec["name"],
        X=np.column_stack([values for values, _ in columns]),
        nominal=np.array([names is not None for _, names in columns]),
        y=y,
        classes=classes,
        features=tuple(features),
        categories=tuple(names or () for _, names in columns),
        groups=_whole(table, spec["groups"], "value").codes if "groups" in spec else None,
        folds=_folds(table, spec["folds"]) if "folds" in spec else None,
    )


def _feature_names(table: DataColumns, spec: Mapping[str, Any], target: str) -> list[str]:
    times = Counter(table.names)
    for name in table.names:
        if times[name] > 1:
            raise ValueError(f"{table.where}: column {shown(name)} appears twice")
    wanted, dropped, nominal = (spec.get(key, []) for key in ("columns", "drop", "nominal"))
    roles = [target, *(spec[key] for key in ("groups", "folds") if key in spec)]
    for name in [*roles, *wanted, *dropped, *nominal]:
        if name not in times:
            raise ValueError(f"{table.where}: column {shown(name)} was not found; {hint(name, table.names)}")
    for name in [*roles, *wanted]:
        if name in dropped or (name in roles and name in wanted) or roles.count(name) > 1:
            places = "target, columns and drop" if roles == [target] else "target, groups, folds, columns and drop"
            raise ValueError(f"{table.where}: column {shown(name)}: name it in only one of {places}")
    outside = {*roles, *dropped}
    features = [name for name in spec.get("columns", table.names) if name not in outside]
    if not features:
        raise ValueError(
            f"{table.where}: no column is left; keep at least one feature in addition to the class {shown(target)}"
        )
    if odd := next((name for name in nominal if name not in features and name != target), None):
        raise ValueError(f"{table.where}: nominal: {shown(odd)} is not a feature column")
    if "" in features:
        raise ValueError(f"{table.where}: a column has no name; name it, or leave it out with drop = ['']")
    return features


def _classes(table: DataColumns, target: str, listed: Collection[str]) -> tuple[Codes, tuple[str, ...]]:
    """Return the class of each row as a code, and the names of the classes."""
    labels = _whole(table, target, "class", listed)
    names = labels.names
    if not all(map(is_number, names)):
        return labels.codes, names
    if odd := [name for name in names if not float(name).is_integer()]:
        raise table.error(target, f"class {odd[0]} is not valid; expected a name or whole number", labels.first(odd[0]))
    order = sorted(range(len(names)), key=lambda code: float(names[code]))
    return np.argsort(order)[labels.codes], tuple(names[code] for code in order)


def _folds(table: DataColumns, name: str) -> Codes:
    """Return the fold of each row. Raise ValueError for -1, scikit-learn's mark of rows that are never tested."""
    folds = _whole(table, name, "value")
    if "-1" in folds.names:
        problem = "-1 marks rows that are never tested; give every row a fold, or leave out the row"
        raise table.error(name, problem, folds.first("-1"))
    return folds.codes


def _whole(table: DataColumns, name: str, what: str, listed: Collection[str] = ()) -> Texts:
    """Return a column of strings; raise ValueError if a value is or looks missing, or if all values are equal."""
    texts, where = table.texts(name), f"{table.where}: column {shown(name)}"
    if not texts.codes.size:
        raise ValueError(f"{table.where}: has no rows")
    if (texts.codes < 0).any():
        raise table.error(name, f"a {what} is missing; give every row a {what}", int((texts.codes < 0).argmax()))
    rows_of = dict(zip(texts.names, np.bincount(texts.codes).tolist(), strict=True))
    is_class = what == "class"
    remedy = f"leave out rows without a {what}, or {'list {} in classes' if is_class else 'rename {}'} if it is one"
    refuse_missing_texts(where, rows_of, remedy, classes=listed, what="labels" if is_class else "values")
    if not is_class and (notes := DistinctNames(texts.names, MAX_TOTAL, where, "group").notes):
        raise ValueError(notes[0])
    if len(texts.names) < 2:
        raise table.error(name, f"{shown(texts.names[0])} is the only {what}; expected two or more")
    return texts


def _feature(table: DataColumns, name: str, *, as_codes: bool) -> tuple[Numbers, tuple[str, ...] | None]:
    """Return a feature as numbers, or as the codes of its categories and these categories."""
    values = None if as_codes else table.numbers(name)
    if values is None:
        texts = table.texts(name)
        return np.where(texts.codes < 0, np.nan, texts.codes), texts.names
    infinite = np.isinf(values)
    if infinite.any():
        raise table.error(name, "infinity is not valid; expected finite numbers", int(infinite.argmax()))
    return values, None
