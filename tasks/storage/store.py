"""The store of one study: Parquet files that are complete, belong to the study, and are unchanged.

Layout under the root (a path or an fsspec URL)::

    study.json                              the resolved configuration
    plan.parquet                            a row for each cell
    data/<name>.<digest>.parquet            the data sets, read once
    blocks/<cell>/<first>-<last>.parquet    replicates of a cell that is not finished
    replicates/<cell>/<first>-<last>.parquet    all replicates of a finished cell
    counts/<mark>.parquet                   counts of a file of a population, for later plans with more files
    receipts/<cell>.json                    timings and hosts: never part of a result
    summary.parquet, report.html

Each Parquet file has a seal (`sigstats.tasks.storage.seal`). A truncated or altered file, or a file from another study,
is reported by `Damaged` and computed again.

A run writes blocks, and `Store.finish` joins those of a complete cell. They are in separate folders: a worker that the
run has given up on may write a block after the run has ended; no finished cell is affected.
"""

import contextlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import IO, Any

import pyarrow as pa

from sigstats._common.messages import rephrased

from ..plan import Cell
from ..schema import REPLICATE, SPAN, renamed
from . import seal
from .files import Files, open_files
from .seal import Damaged


@dataclass(frozen=True)
class CellFiles:
    """The files of a cell."""

    #: The sorted, disjoint ranges of replicates in valid files.
    done: tuple[tuple[int, int], ...]
    #: A line per file that cannot be used.
    damaged: tuple[str, ...]


@dataclass(frozen=True)
class Store:
    """The files of one study. A store consists only of its root, so it is cheap to make and to send to workers."""

    root: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "root", open_files(str(self.root)).root)

    @property
    def files(self) -> Files:
        """The files under the root."""
        return open_files(self.root)

    def write_table(self, name: str, table: pa.Table, *, kind: str, fingerprint: str) -> bytes:
        """Write `table` atomically with its seal; return the written content."""
        content = seal.seal(table, kind=kind, fingerprint=fingerprint)
        self.files.write(name, content)
        return content

    def read_table(self, name: str, *, kind: str, fingerprint: str | None = None) -> pa.Table:
        """Return the table of a sealed file.

        Raises Damaged if the file is damaged or altered, or has another kind or fingerprint. Raises FileNotFoundError
        if it does not exist.
        """
        return seal.unseal(self.files.read(name), name, kind=kind, fingerprint=fingerprint)

    def usable(self, name: str, *, kind: str, fingerprint: str | None = None) -> tuple[pa.Table | None, str]:
        """Return the table of a sealed file, or None and the reason, which is empty if the file does not exist."""
        try:
            return self.read_table(name, kind=kind, fingerprint=fingerprint), ""
        except FileNotFoundError:
            return None, ""
        except Damaged as error:
            return None, str(error)

    def write_json(self, name: str, values: Mapping[str, Any], *, indent: int | None = 2) -> None:
        """Write JSON atomically. Without an indent it takes one line and much less time."""
        self.files.write(name, (json.dumps(values, indent=indent, sort_keys=True) + "\n").encode())

    def read_json(self, name: str) -> dict[str, Any]:
        """Return the values of a JSON object in a file; raise Damaged if the file does not contain one."""
        with rephrased(lambda text: f"{name} is not JSON ({text})", Damaged):
            values = json.loads(self.files.read(name))
        if not isinstance(values, dict):
            raise Damaged(f"{name} is not a JSON object")
        return values

    def write_block(self, cell: Cell, first: int, last: int, table: pa.Table) -> bytes:
        """Write the replicates ``first <= replicate < last`` of a cell; return the written content."""
        seal.require_range([table], first, last)
        name = seal.block_name(cell, first, last)
        return self.write_table(name, table, kind=cell.fanout, fingerprint=cell.fingerprint)

    def wrote_block(self, cell: Cell, first: int, last: int, content: bytes | None = None) -> None:
        """Record a block that a worker has written, and its content if the worker has sent it."""
        self.files.wrote(seal.block_name(cell, first, last), content)

    def read_block(self, cell: Cell, first: int, last: int) -> pa.Table:
        """Return the replicates ``first <= replicate < last``, which are stored in one file."""
        return _concatenated(self.block_parts(cell, first, last))

    def block_parts(self, cell: Cell, first: int, last: int) -> Iterator[pa.Table]:
        """Yield the result of `read_block`, in several parts if there are very many replicates."""
        for name in (seal.block_name(cell, first, last), seal.finished_name(cell, first, last)):
            with contextlib.suppress(FileNotFoundError):
                yield from self._checked_parts(name, cell, first, last)
                return
        for name in self._file_names(cell):  # a plan with fewer replicates cut the last lane short
            bounds = seal.range_of(cell, name)
            if bounds is not None and seal.usable_range(cell, *bounds) == (first, last):
                yield from (seal.first_replicates(part, last) for part in self._checked_parts(name, cell, *bounds))
                return
        raise FileNotFoundError(seal.block_name(cell, first, last))

    def _checked_parts(self, name: str, cell: Cell, first: int, last: int) -> Iterator[pa.Table]:
        """Yield the replicates of a file, in several parts if there are very many. All are checked before the first."""
        if last - first <= seal.ROWS:
            table = renamed(self.read_table(name, kind=cell.fanout, fingerprint=cell.fingerprint))
            seal.require_range([table], first, last, name)
            yield table
            return
        with self.files.open(name) as file:
            parts = seal.read_sealed(file, name, kind=cell.fanout, fingerprint=cell.fingerprint)
            seal.require_range(parts([REPLICATE.name, SPAN.name]), first, last, name)
            yield from parts(None)

    def find(self, cell: Cell) -> CellFiles:
        """Read and check all files of a cell."""
        sound, damaged = [], []
        for name in self._file_names(cell):
            bounds = seal.range_of(cell, name)
            if bounds is None:
                damaged.append(f"{name} is not a file of this plan")
                continue
            try:
                next(self._checked_parts(name, cell, *bounds))
            except FileNotFoundError:
                continue
            except Damaged as error:
                damaged.append(str(error))
            else:
                first, last = seal.usable_range(cell, *bounds)
                if first < last:
                    sound.append((first, last))
        return CellFiles(tuple(seal.disjoint(sound)), tuple(damaged))

    def _file_names(self, cell: Cell) -> list[str]:
        """Return the names of all files of a cell. Files of the finished cell come first."""
        return [f"{folder}/{entry}" for folder in seal.folders(cell) for entry in self.files.names(folder)]

    def read_prefix(self, cell: Cell) -> pa.Table | None:
        """Return the replicates before the first missing replicate, or None if there are none."""
        parts = list(self.parts(cell))
        return _concatenated(parts) if parts else None

    def parts(self, cell: Cell) -> Iterator[pa.Table]:
        """Yield the result of `read_prefix`, in tables that are small enough for memory."""
        with contextlib.suppress(FileNotFoundError, Damaged):  # saves a worker a listing of the bucket
            yield from self._checked_parts(seal.finished_name(cell, 0, cell.replicates), cell, 0, cell.replicates)
            return
        for block in self._leading_ranges(cell):
            yield from self.block_parts(cell, *block)

    def _leading_ranges(self, cell: Cell) -> list[tuple[int, int]]:
        """Return the ranges of the files that contain the replicates before the first missing replicate."""
        ranges, reached = [], 0
        for first, last in self.find(cell).done:
            if first == reached:
                ranges.append((first, last))
                reached = last
        return ranges

    def finish(self, cell: Cell, last: int | None = None) -> None:
        """Join the blocks of a complete cell into one file. The bytes do not depend on how the cell was cut.

        `last`: the number of replicates to keep, by default all. Raises Damaged if replicates are missing.
        """
        whole = (0, cell.replicates if last is None else last)
        name = seal.finished_name(cell, *whole)
        try:
            next(self._checked_parts(name, cell, *whole))
        except (FileNotFoundError, Damaged):
            self._join(name, cell, whole[1])
        finished, blocks = seal.folders(cell)
        for entry in self.files.names(finished):
            if f"{finished}/{entry}" != name:
                self.files.remove(f"{finished}/{entry}")
        self.files.drop(blocks)

    def _join(self, name: str, cell: Cell, last: int) -> None:
        """Write the blocks of a complete cell into one file, and check it."""
        blocks = self._leading_ranges(cell)
        if blocks and blocks[-1][1] >= last:
            with contextlib.suppress(Damaged):  # another run in the same root has joined the blocks meanwhile
                self.files.wrote(name)  # object stores may list new files late
                self.files.write(name, partial(self._write_joined, cell, blocks, last))
        try:
            next(self._checked_parts(name, cell, 0, last))
        except FileNotFoundError:
            raise Damaged(f"replicates/{cell.name} is not complete") from None

    def _write_joined(self, cell: Cell, blocks: Sequence[tuple[int, int]], last: int, file: IO[bytes]) -> None:
        """Write the first replicates of a cell. If very many, they are read again, in parts, for each column."""

        def tables() -> Iterator[pa.Table]:
            try:
                for block in blocks:
                    yield from (seal.first_replicates(part, last) for part in self.block_parts(cell, *block))
            except FileNotFoundError as error:
                raise Damaged(f"{error} is gone") from None

        seal.write_joined(file, tables, in_memory=last <= seal.ROWS, kind=cell.fanout, fingerprint=cell.fingerprint)

    def drop_blocks(self, cells: Iterable[Cell]) -> None:
        """Remove the blocks of these finished cells."""
        finished = {cell.name for cell in cells}
        names = self.files.folders(seal.BLOCKS)
        for name in finished.intersection(names):
            self.files.drop(f"{seal.BLOCKS}/{name}")
        if finished.issuperset(names) and not self.files.names(seal.BLOCKS):
            self.files.drop(seal.BLOCKS)


def _concatenated(parts: Iterable[pa.Table]) -> pa.Table:
    tables = list(parts)
    return tables[0] if len(tables) == 1 else pa.concat_tables(tables).combine_chunks()
