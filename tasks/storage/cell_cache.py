"""Finished cells that several studies share, by fingerprint: equal data, work and seed give equal replicates.

Layout under the root (a path or an fsspec URL)::

    <fan-out>/<fingerprint>/<first>-<last>.parquet

A file is written whole or not at all, under its seal, and every study would write the same bytes, so several may use a
cache at the same time. A damaged file is reported, and written again by the study that has computed the cell.
"""

from dataclasses import dataclass, field

from ..plan import Cell, missing_replicates
from .block_files import block_name, finished_name, first_replicates, range_in, require_range
from .files import open_files
from .seal import Damaged, unseal
from .store import Store


@dataclass
class CellCache:
    """The finished cells under a root.

    Attributes
    ----------
    root : str
        A path or an fsspec URL.
    """

    root: str
    _damaged: set[str] = field(default_factory=set, init=False)

    def take(self, cell: Cell, store: Store) -> list[str]:
        """Copy the replicates of a cell that a store lacks.

        Returns
        -------
        list of str
            A line for each file that cannot be used.
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
                if self._copy(files.read(name), name, bounds[1], cell, store):
                    break
            except FileNotFoundError:
                continue
            except Damaged as error:
                self._damaged.add(name)
                damaged.append(f"cache: {error}")
        return damaged

    def _copy(self, content: bytes, name: str, stored: int, cell: Cell, store: Store) -> bool:
        """Write the part of a file of first replicates that a cell can use; False if there is none."""
        table = unseal(content, name, kind=cell.fanout, fingerprint=cell.fingerprint)
        try:
            require_range(table, 0, stored)
        except ValueError as error:
            raise Damaged(f"{name}: {error}") from None
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
            files.write(name, store.files.read(finished_name(cell, 0, replicates)))
            self._damaged.discard(name)


def _folder(cell: Cell) -> str:
    return f"{cell.fanout}/{cell.fingerprint}"
