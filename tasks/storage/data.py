"""Data that a study reads once and stores, so that its workers need no other access to them."""

from typing import Protocol, Self

import pyarrow as pa


class StoredData(Protocol):
    """Data that can be written as a table and read from it again: a data set, documents, a population."""

    @property
    def name(self) -> str:
        """The name of the data in the study."""

    @property
    def nbytes(self) -> int:
        """Its size in memory, in bytes."""

    def digest(self) -> str:
        """SHA-256 (hexadecimal) of the content; the name is not part of it."""

    def to_table(self) -> pa.Table:
        """The content and the name as a table."""

    @classmethod
    def from_table(cls, table: pa.Table) -> Self:
        """The data that `to_table` wrote."""
