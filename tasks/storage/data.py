"""Data that a study stores once and its workers read: data sets, documents, populations.

A worker process keeps data that several blocks use in a bounded cache. The workers of a machine share one copy of data
in an object store, so that only one of them downloads it.
"""

import contextlib
import os
import shutil
import threading
import time
from collections.abc import Callable, Hashable, Iterator
from pathlib import Path
from typing import Any, Final, NoReturn, Protocol, Self, TypeVar, runtime_checkable

import pyarrow as pa
from cachetools import LRUCache, cached

from sigstats._common.own_folder import own_folder

from ..record import slug
from .local_files import LocalFiles, Locked
from .store import Store

T = TypeVar("T")

#: The default bounds of a cache.
MOST_BYTES, MOST_VALUES = 1 << 28, 8


class WorkerCache(LRUCache[Hashable, T]):
    """A least-recently-used cache, bounded in bytes and in the number of values, for `cachetools.cached`.

    A single value that exceeds the bound in bytes is kept until another one is looked up. It is removed before the
    other is computed, so that a worker never holds two large data sets.

    `nbytes`: the size of a value. `most_bytes` and `most_values`: the bounds.
    """

    def __init__(
        self, nbytes: Callable[[T], int], *, most_bytes: int = MOST_BYTES, most_values: int = MOST_VALUES
    ) -> None:
        super().__init__(most_bytes, getsizeof=lambda value: min(nbytes(value), most_bytes))
        self.most_values = most_values

    def taken(self, key: Hashable) -> T | None:
        """Remove and return the value of a key; None if it is missing."""
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


@runtime_checkable
class Growing(StoredData, Protocol):
    """Data in files, to which others may be added."""

    def extends(self, earlier: Self) -> bool:
        """True if all files of the earlier data are here unchanged, together with new ones."""


D = TypeVar("D", bound=StoredData)


def write_data(store: Store, data: StoredData) -> str:
    """Write data, unless the store has them; return the reason if stored data could not be used.

    Damaged data are written again, and so are data with equal rows from another source.
    """
    name, table = _file_of(data.name, data.digest()), data.to_table()
    present, damage = store.usable(name, kind="data", fingerprint=data.digest())
    if present is None or present.schema.metadata != table.schema.metadata:
        store.write_table(name, table, kind="data", fingerprint=data.digest())
    return damage


def read_data(store: Store, kind: type[D], name: str, digest: str) -> D:
    """The data of this class, name and digest; a process reads the same data only once."""
    data: D = _read_data(store, kind, name, digest)
    return data


@cached(WorkerCache[StoredData](lambda data: data.nbytes), lock=threading.Lock())
def _read_data(store: Store, kind: type[StoredData], name: str, digest: str) -> Any:
    return kind.from_table(read_once_per_machine(store, _file_of(name, digest), kind="data", fingerprint=digest))


def _file_of(name: str, digest: str) -> str:
    return f"data/{slug(name, digest[:10])}.parquet"  # a name may contain characters that a path may not


#: Seconds that a worker waits for another's download before it downloads the data itself.
_PATIENCE: Final = 120.0
#: Seconds without a reader after which a copy is removed, when another copy is made.
_KEPT: Final = 24 * 3600.0
#: A copy takes at most this share of the free space, which may be memory.
_SHARE: Final = 0.25


def read_once_per_machine(store: Store, name: str, *, kind: str, fingerprint: str) -> pa.Table:
    """Return a sealed table whose fingerprint determines its content; one worker of a machine downloads it.

    A copy is checked like the original. None is made without a private temporary folder or on a full disk.
    Raises what `Store.read_table` raises.
    """
    folder = None if isinstance(store.files, LocalFiles) else own_folder("data")
    if folder is None:
        return store.read_table(name, kind=kind, fingerprint=fingerprint)
    copy = Store(str(folder / fingerprint))
    if (table := _read_copy(copy, name, kind, fingerprint)) is not None:
        return table
    with _turn(copy):
        if (table := _read_copy(copy, name, kind, fingerprint)) is not None:
            return table
        table = store.read_table(name, kind=kind, fingerprint=fingerprint)
        with contextlib.suppress(OSError):
            if table.nbytes < _SHARE * shutil.disk_usage(folder).free:
                copy.write_table(name, table, kind=kind, fingerprint=fingerprint)
            _remove_old(folder)
        return table


def _read_copy(copy: Store, name: str, kind: str, fingerprint: str) -> pa.Table | None:
    with contextlib.suppress(OSError):
        table, _ = copy.usable(name, kind=kind, fingerprint=fingerprint)
        if table is not None:
            os.utime(copy.root)
        return table
    return None


@contextlib.contextmanager
def _turn(copy: Store) -> Iterator[None]:
    """Wait for the worker that makes this copy, at most for `_PATIENCE`, since it may have stopped."""
    last = time.monotonic() + _PATIENCE
    with contextlib.ExitStack() as held:
        while time.monotonic() < last:
            try:
                held.enter_context(copy.files.lock())
            except Locked:
                time.sleep(0.05)
                continue
            except OSError:  # there will be no copy
                pass
            break
        yield


def _remove_old(folder: Path) -> None:
    for copy in folder.iterdir():
        if time.time() - copy.stat().st_mtime > _KEPT:
            shutil.rmtree(copy, ignore_errors=True)
