"""Columns with the probability of each class, in place of a column of predictions or of labels."""

import re
from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sigstats._common.class_columns import as_probabilities
from sigstats._common.messages import some_of
from sigstats._common.validation import refuse, shown

from ..tables.spelling import Array, same_spelling
from ..tables.table import Table, WithMissing


def classes_in(pattern: str, names: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Each class and its column: names and patterns with commas between; the class is what ``*`` stands for."""
    parts = [part.strip().partition("*") for part in pattern.split(",")]
    return tuple(
        (name[len(start) : len(name) - len(end)] if star else name, name)
        for name in names
        for start, star, end in parts
        if (re.fullmatch(f"{re.escape(start)}.+{re.escape(end)}", name) if star else name == start)
    )


class WithLikeliest(WithMissing):
    """All rows of a table, with the likeliest class of each as its prediction, unless it has a column of these.

    `of_labels`: each row has one class of probability 1.
    """

    def __init__(self, table: Table, columns: Any, *, of_labels: bool) -> None:
        super().__init__(table, columns.form.missing)
        self.classes, names = [of for of, _ in columns.of_classes], [name for _, name in columns.of_classes]
        if len(set(self.classes)) < max(2, len(names)):
            fit = f"{columns.probabilities!r} fits {some_of(names) if names else 'none'} of {some_of(table.names, 10)}"
            raise ValueError(f"{table.where}: probabilities: {fit}; expected a column for each class")
        values = np.column_stack([table.numbers(name).to_numpy() for name in names])
        self.probabilities = as_probabilities(values, f"{table.where}: probabilities", table.num_rows)
        if of_labels and not (values.max(axis=1) == 1).all():
            raise refuse(f"{table.where}: probabilities", "a row", "1 for the true class and 0 for others")
        self._name = "" if columns.prediction in table.names else columns.prediction
        self.names += (self._name,) if self._name else ()
        self._likeliest = pa.array(self.classes, pa.string()).take(pa.array(values.argmax(axis=1)))

    def of_true_class(self, name: str, label: Any) -> Any:
        """The probability of the label of each row; null if it is missing."""
        texts, classes = same_spelling([label.cast(pa.string()), pa.array(self.classes, pa.string())])
        places: Any = pc.index_in(texts, value_set=classes)
        if len(odd := pc.indices_nonzero(pc.and_(pc.is_null(places), pc.is_valid(texts)))):
            row = odd[0].as_py()
            raise self.error(name, f": {shown(texts[row].as_py())} is not one of {some_of(self.classes, 10)}", row)
        values = self.probabilities[np.arange(len(texts)), pc.fill_null(places, 0).to_numpy()]
        return pa.array(values, mask=pc.is_null(places).to_numpy(zero_copy_only=False))

    def _text(self, name: str) -> Array:
        return self._likeliest if name == self._name else super()._text(name)
