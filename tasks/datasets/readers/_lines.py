"""Tables that are lines of text: CSV and ARFF alike."""

from array import array
from collections.abc import Callable, Iterable, Sequence
from itertools import islice

import numpy as np

from sigstats._common.validation import shown

from ..tables import Numbers, Table, Texts, is_number

#: Rows that are held as Python strings at a time; the rest is codes.
_CHUNK = 8192


class Lines(Table):
    """Rows of text fields, each with the number of its line.

    Parameters
    ----------
    where : str
        What messages call the table: its path.
    names : sequence of str
    rows : iterable of (int, sequence of (str or None))
        For each row the number of its (last) line, counted from 1, and its fields; None is missing.
    clean : callable
        Gives the text that a field means, or None where it means that a value is missing.
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
        rows = iter(rows)
        while chunk := list(islice(rows, _CHUNK)):
            for line, fields in chunk:
                if len(fields) != len(self.names):
                    raise ValueError(f"{where}, line {line}: {len(fields)} fields; expected {len(self.names)}")
                self._lines.append(line)
            columns = zip(*(fields for _, fields in chunk), strict=True)
            for index, codes, column in zip(self._index, self._codes, columns, strict=True):
                codes.extend([index.setdefault(field, len(index)) for field in column])

    def row(self, row: int) -> str:
        return f"line {self._lines[row]}"

    def texts(self, name: str) -> Texts:
        position = self.names.index(name)
        names = [None if field is None else self._clean(field) for field in self._index[position]]
        return Texts.of(names, np.array(self._codes[position], dtype=np.int64))

    def numbers(self, name: str) -> Numbers | None:
        """The numbers of a column, None if no field of it is one; a column of both is refused as likely a mistake."""
        texts = self.texts(name)
        others = [field for field in texts.names if not is_number(field)]
        if len(others) == len(texts.names):
            return None
        if others:
            row = min(map(texts.first, others[:100]))
            field = shown(texts.names[texts.codes[row]])
            raise self.error(
                name,
                f"{field} is no number, others are; expected numbers, or {field} in missing, or the column in nominal",
                row,
            )
        return texts.numbers()
