"""The tables of a significance study, as `Entry`s of its file: the common part of all kinds, and the reading of files.

The modules of this folder define an `Entry` for each kind, which yields a `Case` for each table that is tested.
"""

import importlib
import re
from abc import abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pydantic import Field, ValidationInfo, field_validator, model_validator

from sigstats._common.class_names import class_notes, counts_of, refuse_missing_texts
from sigstats._common.class_spelling import DistinctNames
from sigstats._common.messages import Note, shown
from sigstats._common.repeats import joint_codes
from sigstats._common.validation import as_choice
from sigstats.files.inputs import place, read_bytes, reading
from sigstats.files.inputs.content import open_content
from sigstats.files.tables.delimited import DelimitedTable
from sigstats.files.tables.spelling import is_number, rows_of_short, same_spelling
from sigstats.files.tables.table import Table
from sigstats.tasks.statistical_tests import MONTE_CARLO, methods
from sigstats.tasks.summary import PRINTABLE, Reference

from ...config.model import Strict, each_once, only
from ...config.settings import PrintedNumber

#: The usual names of columns that show that a row stands for several objects, or that rows belong to several models.
_MORE = re.compile("(?i)id|model|counts?|n|freq(uency)?")
#: The most rows of a table of counts; larger tables have a row for each object.
_MOST_COMBINATIONS = 10_000
Name = Annotated[str, Field(min_length=1, max_length=80)]
Counts = list[Annotated[int, Field(ge=0)]]
Ways: TypeAlias = tuple[tuple[str, ...], ...]


class Printed(Strict):
    """Printed numbers of a publication for a table, by method."""

    printed: dict[str, PrintedNumber | dict[str, PrintedNumber]] = Field(
        default_factory=dict, description="printed p-value by method, as text, or a table of printed columns"
    )
    remarks: dict[str, str] = Field(default_factory=dict, description="remark by method, shown if numbers disagree")

    @field_validator("printed", mode="after")
    @classmethod
    def _printable(cls, printed: dict[str, str | dict[str, str]]) -> dict[str, str | dict[str, str]]:
        for value in printed.values():
            for column in value if isinstance(value, dict) else ():
                as_choice(column, "printed", PRINTABLE)
        return printed

    @field_validator("remarks", mode="after")
    @classmethod
    def _of_printed(cls, remarks: dict[str, str], info: ValidationInfo) -> dict[str, str]:
        for method in remarks:
            if method not in info.data.get("printed", remarks):
                raise ValueError(f"{shown(method)} is not valid; expected a method of printed")
        return remarks

    def references(self, cell: str, method: str) -> list[Reference]:
        """Return the printed numbers of a method; `cell`: the name of the cell that computes them."""
        value = self.printed.get(method, {})
        by_column = {"p_value": value} if isinstance(value, str) else value
        remark = self.remarks.get(method, "")
        return [Reference(cell=cell, name=name, printed=printed, remark=remark) for name, printed in by_column.items()]


@dataclass(frozen=True, kw_only=True)
class Case:
    """One table that is tested."""

    #: Subject: ``dataset``, and ``a`` and ``b`` if two are compared.
    subject: Mapping[str, str]
    #: The test of `sigstats.tasks.statistical_tests`.
    test: str
    #: Inputs of the test.
    data: Mapping[str, Any]
    #: Printed numbers of a publication.
    printed: Printed = field(default_factory=lambda: Printed.model_validate({}))
    #: The test's name in the summary, where it is another.
    shown_as: str = ""
    #: The methods, where they are not those of the entry.
    methods: tuple[str, ...] = ()


class Entry(Printed):
    """One table of a significance study, or all tables of a file."""

    #: The test of `sigstats.tasks.statistical_tests`.
    TEST: ClassVar[str]
    #: The place of its results among those of the other kinds.
    ORDER: ClassVar[int]
    #: True if a study has at most one.
    ALONE: ClassVar[bool] = False
    #: The ways to give its counts, each by the fields that belong together; exactly one is taken.
    WAYS: ClassVar[Ways] = ()

    name: Name = Field(description="Name in the results")
    methods: tuple[str, ...] = Field(("exact",), strict=False, min_length=1, description="Methods, in order")
    resamples: Annotated[
        int | None,
        Field(ge=1, le=10**10, description="Monte-Carlo replicates; the study's by default"),
        only("methods", MONTE_CARLO),
    ] = None

    @field_validator("methods", mode="after")
    @classmethod
    def _known_methods(cls, wanted: tuple[str, ...]) -> tuple[str, ...]:
        for method in wanted:
            as_choice(method, "methods", methods(cls.TEST))
        return each_once(wanted, "method")

    @property
    def draws(self) -> bool:
        """True if a method of the table needs Monte-Carlo replicates."""
        return MONTE_CARLO in self.methods

    def case(self, data: Mapping[str, Any], notes: Sequence[str] = (), **subject: str) -> Case:
        """Return a table with this name (or another in `dataset`) and further parts of the subject."""
        data = {**data, "note": "; ".join(notes)} if notes else data
        return Case(subject={"dataset": self.name, **subject}, test=self.TEST, data=data, printed=self)

    @abstractmethod
    def cases(self, base: Path) -> Iterator[Case]:
        """Return the tables, read from their file if they are in one; ValueError names the error."""

    @model_validator(mode="after")
    def _given_in_one_way(self) -> Self:
        for way in self.WAYS:
            if len({getattr(self, name) is None for name in way}) > 1:
                raise ValueError(f"{' and '.join(way)}: one of them is missing; expected both")
        given = [first for first, *_ in self.WAYS if getattr(self, first) is not None]
        if self.WAYS and len(given) != 1:
            text = " and ".join(given) or "none of them"
            raise ValueError(f"{text} is not valid; expected one of {', '.join(first for first, *_ in self.WAYS)}")
        return self


#: The classes of a file that look like missing values.
Classes = Annotated[
    list[str] | None, Field(description="Classes that look like missing values, such as none"), only("path")
]


class OfTwo(Entry):
    """A table that compares two classifiers or samples with different names."""

    a: Name = Field(description="First classifier; with a path, its column of predictions")
    b: Name = Field(description="Second classifier; with a path, its column of predictions")

    @field_validator("b", mode="after")
    @classmethod
    def _another(cls, b: str, info: ValidationInfo) -> str:
        if b == info.data.get("a"):
            raise ValueError(f"{shown(b)} is not valid; expected a name other than a")
        return b


def read_table(path: str, base: Path, names: Sequence[str] | None = None, filled: Sequence[str] | None = None) -> Table:
    """Return the columns `names` of a file; those in `filled` must have no missing values (default: all columns)."""
    where = place(path, base)
    table: Table
    if where.endswith((".parquet", ".pq")):
        from sigstats.files.tables.arrow_files import read_parquet

        with open_content(where) as content, reading(content.where, fault="cannot be read as Parquet"):
            known, columns = read_parquet(content.by_place(), content.budget, names)
        table = Table(where, columns, names=known, as_python=True)
    else:
        table = DelimitedTable(where, read_bytes(where), wanted=None if names is None else lambda _: names)
    for name in filled or names or table.names:
        table.require(name)
    return table


def coded_classes(
    table: Table, names: Sequence[str], listed: Sequence[str] | None, times: Any = None, by: str | None = None
) -> tuple[list[NDArray[np.int64]], list[str], list[Note]]:
    """Return columns of labels and predictions as `codes`, with notes on classes that only one side has.

    ValueError if predictions are not classes of the labels, or a value that is not `listed` usually means a missing
    one. `times`: the number of objects of each row; `by`: the column of several tables.
    """
    columns = [table.texts(name) for name in names]
    for name, column in zip(names, columns, strict=True):
        remedy = "leave out rows without a class, or list {} in classes if it is one"
        where, rows, n = str(table.error(name, "")), rows_of_short(column), len(column)
        refuse_missing_texts(where, rows, remedy, classes=listed, n=n, what="classes")
    coded, classes = codes(*columns)
    labels = counts_of(classes, coded[0], times)
    spelled = DistinctNames([*labels], sum(labels.values()), f"column {shown(names[0])}")
    for name, column in zip(names[1:], coded[1:], strict=True):
        spelled.check(f"column {shown(name)} of {table.where}", [*counts_of(classes, column, times)])
    models = [(name, classes, coded[0], column) for name, column in zip(names[1:], coded[1:], strict=True)]
    notes = class_notes(models, times)
    return coded, classes, notes if times is not None else [*notes, *_on_unused(table, {*names, by}, by, classes)]


def _on_unused(table: Table, used: Collection[str | None], by: str | None, classes: Collection[str]) -> Iterator[Note]:
    """Yield notes on unused columns that suggest rows of several objects or models."""
    counts = _possible_counts(table, used, classes)
    for name in table.names:
        if name in used or not (_MORE.fullmatch(name) or name in counts):
            continue
        key, distinct = name.casefold(), len(table.texts_or_missing(name).unique())
        repeats_ids = key == "id" and by is None and distinct < table.num_rows
        several_models = key == "model" and distinct > 1
        is_count = key not in ("id", "model")
        if is_count or repeats_ids or several_models:
            how = "is not used" if is_count else f"has {distinct:,} {key}s in {table.num_rows:,} rows"
            yield Note("unused-counts", f"column {shown(name)} {how}: each row counts as one object")


def _possible_counts(table: Table, used: Collection[str | None], classes: Collection[str]) -> list[str]:
    """Return the columns that may be counts of objects: whole numbers that are neither classes nor numbers of rows.

    They are none if rows are equal in all columns of classes, since a table of counts has a row for each combination.
    """
    if table.num_rows > _MOST_COMBINATIONS:
        return []
    keys, counts = [], []
    for name in {*table.names}:
        try:
            texts = table.texts_or_missing(name)
        except (ValueError, pa.ArrowException):  # a column of another type
            continue
        distinct = set(texts.unique().to_pylist())
        if name in used or distinct <= {*classes}:
            keys.append(texts.dictionary_encode().indices.to_numpy())
        elif distinct != {"1"} and all(text and is_number(text) for text in distinct):
            values = np.array([float(text) for text in texts.to_pylist()])
            is_whole = np.isfinite(values) & (values >= 0) & (values == np.floor(values))
            counts += [name] if is_whole.all() and not (np.diff(values) == 1).all() else []
    return counts if counts and len(np.unique(joint_codes(keys))) == table.num_rows else []


def codes(*columns: Any) -> tuple[list[NDArray[np.int64]], list[str]]:
    """Return columns of names as positions among all names that occur in any of them, and those names.

    They are sorted by their value if all are numbers, or else as text.
    """
    columns = tuple(same_spelling(columns))
    values: set[str] = {value for column in columns for value in column.unique().to_pylist()}
    numeric = all(map(is_number, values))
    classes = sorted(values, key=lambda name: (float(name) if numeric else 0.0, name))
    lookup = pa.array(classes, pa.string())
    return [pc.index_in(column, value_set=lookup).to_numpy().astype(np.int64) for column in columns], classes


#: The modules of this folder, whose `ENTRIES` are models by their keys in the study file.
_MODULES = ("models", "tables")


@cache
def entries() -> dict[str, type[Entry]]:
    """Return the model of every kind of table by its key in the study file, in the order of the report."""
    modules: Iterable[Any] = (importlib.import_module(f"{__name__}.{name}") for name in _MODULES)
    by_key: dict[str, type[Entry]] = {key: entry for module in modules for key, entry in module.ENTRIES.items()}
    return dict(sorted(by_key.items(), key=lambda item: item[1].ORDER))
