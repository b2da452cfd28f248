"""Tables whose rows are lists of texts: ARFF, and rows in the study file."""

from array import array
from collections.abc import Callable, Iterable, Sequence
from itertools import islice

import numpy as np

from ...input_files.limit import Budget
from ..tables import TEXT, Texts, TextTable

#: Rows that are held as Python strings at a time; the rest is codes.
_CHUNK = 8192


class Lines(TextTable):
    """Rows of text fields, each with the number of its line.

    `where`: what messages call the table: its path.
    `rows`: for each row the number of its (last) line, counted from 1, and its fields; None is missing.
    `clean`: gives the text that a field means, or None if it means that a value is missing.
    """

    def __init__(
        self,
        where: str,
        names: Sequence[str],
        rows: Iterable[tuple[int, Sequence[str | None]]],
        *,
        clean: Callable[[str], str | None] = str,
    ) -> None:
        super().__init__(where, names)
        self._clean = clean
        self._lines = array("q")
        self._index: list[dict[str | None, int]] = [{} for _ in self.names]
        self._codes = [array("q") for _ in self.names]
        rows, budget = iter(rows), Budget(where)
        while chunk := list(islice(rows, _CHUNK)):
            for line, fields in chunk:
                if len(fields) != len(self.names):
                    raise ValueError(f"{where}, line {line}: {len(fields)} fields; expected {len(self.names)}")
                self._lines.append(line)
            columns = zip(*(fields for _, fields in chunk), strict=True)
            for index, codes, column in zip(self._index, self._codes, columns, strict=True):
                codes.extend([index.setdefault(field, len(index)) for field in column])
            budget.require(sum(TEXT * len(index) + 8 * len(self._lines) for index in self._index))

    def row(self, row: int) -> str:
        return f"line {self._lines[row]}"

    def texts(self, name: str) -> Texts:
        position = self.names.index(name)
        names = [None if field is None else self._clean(field) for field in self._index[position]]
        return Texts.of(names, np.array(self._codes[position], dtype=np.int64))
