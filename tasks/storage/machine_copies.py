"""Copies of data from an object store, which the workers of a machine share, so that only one of them downloads."""

import contextlib
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pyarrow as pa

from sigstats._common.own_folder import own_folder

from .local_files import LocalFiles, Locked
from .store import Store

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
    if (table := _copied(copy, name, kind, fingerprint)) is not None:
        return table
    with _turn(copy):
        if (table := _copied(copy, name, kind, fingerprint)) is not None:
            return table
        table = store.read_table(name, kind=kind, fingerprint=fingerprint)
        with contextlib.suppress(OSError):
            if table.nbytes < _SHARE * shutil.disk_usage(folder).free:
                copy.write_table(name, table, kind=kind, fingerprint=fingerprint)
            _remove_old(folder)
        return table


def _copied(copy: Store, name: str, kind: str, fingerprint: str) -> pa.Table | None:
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
