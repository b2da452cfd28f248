"""Data that a study stores once for its workers: data sets, documents and populations.

A worker process keeps data that several blocks use in a bounded cache.
"""

import threading
from collections.abc import Callable, Hashable
from typing import Any, NoReturn, Protocol, Self, TypeVar, runtime_checkable

import pyarrow as pa
from cachetools import LRUCache, cached

from ..record import slug
from .store import Store

T = TypeVar("T")

#: The default bounds of a cache.
MOST_BYTES, MOST_VALUES = 1 << 28, 8


class WorkerCache(LRUCache[Hashable, T]):
    """A least-recently-used cache, bounded in bytes and in the number of values, for `cachetools.cached`.

    A single value that exceeds the bound in bytes is kept until another value is looked up. It is removed before the
    other value is computed, so that a worker never has two large data sets in memory.

    `nbytes`: function that returns the size of a value. `most_bytes` and `most_values`: the bounds.
    """

    def __init__(
        self, nbytes: Callable[[T], int], *, most_bytes: int = MOST_BYTES, most_values: int = MOST_VALUES
    ) -> None:
        super().__init__(most_bytes, getsizeof=lambda value: min(nbytes(value), most_bytes))
        self.most_values = most_values

    def taken(self, key: Hashable) -> T | None:
        """Remove and return the value of a key, or return None if the key is missing."""
        try:
            value = self[key]
        except KeyError:
            return None
        del self[key]
        return value

    def __setitem__(self, key: Hashable, value: T) -> None:
        while len(self) >= self.most_values and key not in self:
            self.popitem()
        super().__setitem__(key, value)

    def __missing__(self, key: Hashable) -> NoReturn:
        if self.currsize >= self.maxsize:
            self.popitem()
        raise KeyError(key)


class StoredData(Protocol):
    """Data that can be stored as a table: a data set, documents or a population."""

    @property
    def name(self) -> str:
        """The name of the data in the study."""

    @property
    def nbytes(self) -> int:
        """Size in memory, in bytes."""

    def digest(self) -> str:
        """Return the SHA-256 of the content, without the name, in hexadecimal."""

    def to_table(self) -> pa.Table:
        """Return the content and the name as a table."""

    @classmethod
    def from_table(cls, table: pa.Table) -> Self:
        """Return the data that `to_table` wrote."""


@runtime_checkable
class Growing(StoredData, Protocol):
    """Data in files to which more files may be added."""

    def extends(self, earlier: Self) -> bool:
        """Return True if the files are all files of the earlier data, unchanged, and at least one new file."""


D = TypeVar("D", bound=StoredData)


def write_data(store: Store, data: StoredData) -> str:
    """Write data unless the store has them; return the reason if stored data cannot be used, otherwise "".

    Damaged data are written again, and so are equal rows with other metadata, such as another source.
    """
    name, table = _file_of(data.name, data.digest()), data.to_table()
    present, damage = store.usable(name, kind="data", fingerprint=data.digest())
    if present is None or present.schema.metadata != table.schema.metadata:
        store.write_table(name, table, kind="data", fingerprint=data.digest())
    return damage


def read_data(store: Store, kind: type[D], name: str, digest: str) -> D:
    """Return the stored data of this class, name and digest. A process reads the same data only once."""
    data: D = _read_data(store, kind, name, digest)
    return data


@cached(WorkerCache[StoredData](lambda data: data.nbytes), lock=threading.Lock())
def _read_data(store: Store, kind: type[StoredData], name: str, digest: str) -> Any:
    return kind.from_table(store.read_table(_file_of(name, digest), kind="data", fingerprint=digest))


def _file_of(name: str, digest: str) -> str:
    return f"data/{slug(name, digest[:10])}.parquet"  # a name may contain characters that a path may not
