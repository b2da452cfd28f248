"""Collections of documents, each with a text and any number of categories.

Use `sigstats.tasks.datasets.dataset.Dataset` for a table of features with one class per row.
"""

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from sigstats._common.validation import hint, refuse, shown

from ..schema import column

#: The key of the schema's metadata under which `Documents.to_table` stores the name.
_ABOUT = b"documents"
#: The type of a column of lists that was read from a Parquet file.
_LABELS = pa.list_(pa.field("element", pa.string()))


@dataclass(frozen=True, eq=False)
class Documents:
    """Texts with their categories."""

    #: Name in the study, in one line.
    name: str
    #: The text of each document, which may be empty.
    texts: tuple[str, ...]
    #: The categories of each document, zero or more, in alphabetical order.
    categories: tuple[tuple[str, ...], ...]

    def __post_init__(self) -> None:
        if not self.texts or len(self.texts) != len(self.categories):
            lengths = f"{len(self.texts)} texts and {len(self.categories)} lists of categories"
            raise ValueError(f"documents {self.name}: {lengths}; give at least one text, and a list for each text")

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def nbytes(self) -> int:
        """The memory of the texts in bytes."""
        return sum(map(len, self.texts))

    @property
    def sizes(self) -> tuple[float, float, float]:
        """The sizes, as in `Dataset`. The number of features is unknown (NaN) until a classifier counts the words."""
        return len(self), math.nan, math.nan

    @property
    def labels(self) -> frozenset[str]:
        """All categories that occur."""
        return frozenset(label for category in self.categories for label in category)

    def digest(self) -> str:
        """Return the SHA-256 of the content, without the name, in hexadecimal."""
        return hashlib.sha256(json.dumps([self.texts, self.categories]).encode()).hexdigest()

    def to_table(self) -> pa.Table:
        """Return the documents as a table that `from_table` reads."""
        schema = pa.schema(
            [
                column("text", pa.string(), "text", "the text of the document"),
                column("categories", _LABELS, "names", "the categories of the document"),
            ],
            metadata={_ABOUT: self.name.encode()},
        )
        return pa.table({"text": list(self.texts), "categories": [list(names) for names in self.categories]}, schema)

    @classmethod
    def from_table(cls, table: pa.Table) -> "Documents":
        """Return the documents that `to_table` wrote."""
        name = (table.schema.metadata or {}).get(_ABOUT)
        if name is None:
            raise refuse("table", table.schema.names, "a table that Documents.to_table wrote")
        texts: list[Any] = table.column("text").to_pylist()
        categories: list[Any] = table.column("categories").to_pylist()
        return cls(name=name.decode(), texts=tuple(texts), categories=tuple(tuple(category) for category in categories))


def read_documents(name: str, path: str, base: Path, *, text: Sequence[str], categories: str) -> Documents:
    """Read documents from a Parquet file.

    `name`: the name of the documents in the study.
    `path`: a file or an fsspec URL; a relative path starts at `base`.
    `text`: columns of strings, which are joined to a text in this order. Missing values count as empty.
    `categories`: the column of categories, with a list of strings or a single string in each row.
    """
    from sigstats.files.inputs import place, reading  # most studies have no documents
    from sigstats.files.inputs.content import open_content
    from sigstats.files.tables.arrow_files import read_parquet

    where = place(path, base)
    with open_content(where) as content, reading(content.where, fault="is not a readable Parquet file"):
        known, table = read_parquet(content.by_place(), content.budget, (*text, categories))
    for value in (*text, categories):
        if value not in known:
            raise ValueError(f"{where}: there is no column {shown(value)}; {hint(value, known)}")
    if not table.num_rows:
        raise ValueError(f"{where}: has no rows")
    parts = [_texts(where, item, table.column(item)) for item in text]
    texts = tuple("\n".join(part for part in row if part) for row in zip(*parts, strict=True))
    return Documents(name=name, texts=texts, categories=_categories(where, categories, table.column(categories)))


def _texts(where: str, name: str, values: "pa.ChunkedArray[Any]") -> list[str | None]:
    from sigstats.files.tables.spelling import is_text

    kind = values.type.value_type if pa.types.is_dictionary(values.type) else values.type
    if not is_text(kind):
        raise ValueError(f"{where}: column {shown(name)} has the type {kind}; expected strings")
    texts: list[str | None] = values.to_pylist()
    return texts


def _categories(where: str, name: str, values: "pa.ChunkedArray[Any]") -> tuple[tuple[str, ...], ...]:
    from sigstats.files.tables.spelling import is_text

    kind = values.type
    listed = pa.types.is_list(kind) or pa.types.is_large_list(kind)
    inner = kind.value_type if listed or pa.types.is_dictionary(kind) else kind
    if not is_text(inner):
        raise ValueError(f"{where}: column {shown(name)} has the type {kind}; expected lists of strings, or strings")
    items = []
    for row, value in enumerate(values.to_pylist()):
        labels = value if listed else [value]
        if labels is None or None in labels:
            raise ValueError(f"{where}: column {shown(name)}, row {row}: a category is missing (null); remove the null")
        items.append(tuple(sorted(set(labels))))
    return tuple(items)
