"""Finished cells that several studies share, by fingerprint: equal data, work and seed give equal replicates.

Layout under the root (a path or an fsspec URL)::

    <fan-out>/<fingerprint>/<first>-<last>.parquet

A file is written whole or not at all, under its seal, and every study would write the same bytes, so several may use a
cache at the same time. A damaged file is reported, and written again by the study that has computed the cell.

The seal shows damage, not forgery: whoever may write to a cache decides what studies find in it. With a key,
``<first>-<last>.parquet.hmac`` beside each file holds the HMAC (RFC 2104, SHA-256) of its name and content, and a file
without it counts as damaged.
"""

import hashlib
import hmac
from dataclasses import dataclass, field

from ..plan import Cell, missing_replicates
from .block_files import block_name, finished_name, first_replicates, range_in
from .files import open_files
from .seal import Damaged
from .store import Store, replicates_in


@dataclass
class CellCache:
    """The finished cells under a root."""

    #: A path or an fsspec URL.
    root: str
    #: The secret of those who may add to it; by default all who may write there are trusted.
    key: bytes | None = field(default=None, repr=False)
    _damaged: set[str] = field(default_factory=set, init=False)

    def take(self, cell: Cell, store: Store) -> list[str]:
        """Copy the replicates of a cell that a store lacks.

        Returns a line for each file that cannot be used.
        """
        if not missing_replicates(cell, store.find(cell).done):
            return []
        files = open_files(self.root)
        folder, damaged = _folder(cell), []
        for entry in sorted(files.names(folder), reverse=True):  # the most replicates first
            name = f"{folder}/{entry}"
            bounds = range_in(name)
            if bounds is None or bounds[0]:
                continue
            try:
                content = files.read(name)
                self._require_signed(content, name)
                if self._copy(content, name, bounds[1], cell, store):
                    break
            except FileNotFoundError:
                continue
            except Damaged as error:
                self._damaged.add(name)
                damaged.append(f"cache: {error}")
        return damaged

    def _require_signed(self, content: bytes, name: str) -> None:
        if self.key is None:
            return
        try:
            found = open_files(self.root).read(f"{name}.hmac")
        except FileNotFoundError:
            found = b""
        if not hmac.compare_digest(found, self._signature(content, name)):
            raise Damaged(f"{name} is not signed with the key of the cache")

    def _signature(self, content: bytes, name: str) -> bytes:
        return hmac.new(self.key or b"", f"{name}\n".encode() + content, hashlib.sha256).hexdigest().encode()

    def _copy(self, content: bytes, name: str, stored: int, cell: Cell, store: Store) -> bool:
        """Write the part of a file of first replicates that a cell can use; False if there is none."""
        table = replicates_in(content, name, cell, 0, stored)
        last = min(stored, cell.replicates)
        if stored != cell.replicates:
            last -= last % cell.lane_size  # the last lane of a file may have been cut short
        if not last:
            return False
        if last == stored:
            place = finished_name if last == cell.replicates else block_name
            store.files.write(place(cell, 0, last), content)
        else:
            store.write_block(cell, 0, last, first_replicates(table, last))
        return True

    def put(self, cell: Cell, store: Store, replicates: int) -> None:
        """Add a finished cell, unless the cache has its file undamaged."""
        name = f"{_folder(cell)}/{finished_name(cell, 0, replicates).rpartition('/')[2]}"
        files = open_files(self.root)
        if name in self._damaged or name.rpartition("/")[2] not in files.names(_folder(cell)):
            content = store.files.read(finished_name(cell, 0, replicates))
            if self.key is not None:
                files.write(f"{name}.hmac", self._signature(content, name))
            files.write(name, content)
            self._damaged.discard(name)


def _folder(cell: Cell) -> str:
    return f"{cell.fanout}/{cell.fingerprint}"
