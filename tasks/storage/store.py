"""The store of one study: Parquet files that are complete, belong to the study, and are what was written.

Layout under the root (a path or an fsspec URL)::

    study.json                              the resolved configuration
    plan.parquet                            one row a cell
    data/<name>.<digest>.parquet            the data sets, as read once
    blocks/<cell>/<first>-<last>.parquet    replicates of a cell that is not finished
    replicates/<cell>/<first>-<last>.parquet    all replicates of a finished cell
    receipts/<cell>.json                    timings and hosts: never part of a result
    summary.parquet, report.html

Every Parquet file carries a seal: the kind of table, the fingerprint of what it belongs to and a digest of its rows.
A file that is truncated, altered or of another study is named by `Damaged` and made again, never silently used.

Finished cells lie apart from blocks, so that a worker that was given up, and writes its block when the run is long
over, changes nothing that is finished.
"""

import hashlib
import io
import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ..datasets.dataset import Dataset
from ..datasets.documents import Documents
from ..fingerprint import canonical, slug
from ..plan import Cell
from ..populations.population import EventPopulation
from ..populations.prediction_files import LabelFiles
from ..populations.scored import ScorePopulation
from ..schema import SCHEMA_VERSION
from .files import Files, open_files
from .worker_cache import Kept

#: What a study learns from, or draws from.
Data: TypeAlias = Dataset | Documents | LabelFiles | EventPopulation | ScorePopulation
_Data = TypeVar("_Data", bound=Data)

_SEAL = b"sigstats"
_BLOCKS = "blocks"
_BLOCK_NAME = re.compile(r"/(\d+)-(\d+)\.parquet$")


class Damaged(Exception):
    """A stored file that is not whole or does not belong here; the message names it and says why."""


@dataclass(frozen=True)
class Found:
    """What the store holds of a cell.

    Attributes
    ----------
    done : tuple of (first, last)
        Disjoint ranges of replicates, sorted, each in a sound file of its own.
    damaged : tuple of str
        One line for each file that cannot be used.
    spare : tuple of str
        Names of sound files whose replicates another file holds too.
    """

    done: tuple[tuple[int, int], ...]
    damaged: tuple[str, ...]
    spare: tuple[str, ...]


class Store:
    """The files of one study. Cheap to make and to send to a worker: it is only its root."""

    def __init__(self, root: str) -> None:
        self.root = open_files(str(root)).root

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Store) and other.root == self.root

    def __hash__(self) -> int:
        return hash(self.root)

    def __repr__(self) -> str:
        return f"Store({self.root!r})"

    @property
    def files(self) -> Files:
        """The files under the root."""
        return open_files(self.root)

    def write_table(self, name: str, table: pa.Table, *, kind: str, fingerprint: str) -> int:
        """Write `table` atomically under its seal; return its size in bytes."""
        content = sealed(table, kind=kind, fingerprint=fingerprint)
        self.files.write(name, content)
        return len(content)

    def read_table(self, name: str, *, kind: str, fingerprint: str | None = None) -> pa.Table:
        """The table of a sealed file.

        Raises
        ------
        Damaged
            If the file is not whole, was altered, is of another kind, or carries another fingerprint.
        FileNotFoundError
            If there is none.
        """
        content = self.files.read(name)
        try:
            table = pq.read_table(io.BytesIO(content), page_checksum_verification=True)
            seal = json.loads((table.schema.metadata or {})[_SEAL])
            found = (seal["schema"], seal["kind"], seal["fingerprint"], seal["digest"])
        except Exception as error:  # any bit may be flipped, so the reader may fail in any way
            raise Damaged(f"{name} is not a whole file of this program ({type(error).__name__})") from None
        rest = {key: value for key, value in table.schema.metadata.items() if key != _SEAL} or None
        table = table.replace_schema_metadata(rest)
        if found[3] != _content_digest(table, *found[:3]):
            raise Damaged(f"{name} was altered after it was written")
        if found[:2] != (SCHEMA_VERSION, kind):
            raise Damaged(f"{name} holds {found[1]!r} of schema {found[0]}, not {kind!r} of schema {SCHEMA_VERSION}")
        if fingerprint is not None and found[2] != fingerprint:
            raise Damaged(f"{name} belongs to something else (fingerprint {found[2][:10]}, not {fingerprint[:10]})")
        return table

    def write_json(self, name: str, values: Mapping[str, Any]) -> None:
        """Write readable JSON, atomically."""
        self.files.write(name, (json.dumps(values, indent=2, sort_keys=True) + "\n").encode())

    def read_json(self, name: str) -> dict[str, Any]:
        """The values of a JSON file; Damaged if it is none."""
        try:
            values = json.loads(self.files.read(name))
        except ValueError as error:
            raise Damaged(f"{name} is not JSON ({error})") from None
        if not isinstance(values, dict):
            raise Damaged(f"{name} is not a JSON object")
        return values

    def write_block(self, cell: Cell, first: int, last: int, table: pa.Table) -> int:
        """Keep the replicates ``first <= replicate < last`` of a cell; return the size in bytes."""
        return self._write(_block_name(cell, first, last), cell, first, last, table)

    def _write(self, name: str, cell: Cell, first: int, last: int, table: pa.Table) -> int:
        _require_range(table, first, last)
        return self.write_table(name, table, kind=cell.fanout, fingerprint=cell.fingerprint)

    def read_block(self, cell: Cell, first: int, last: int) -> pa.Table:
        """The replicates ``first <= replicate < last``, stored as one file."""
        try:
            return self._read(_block_name(cell, first, last), cell, first, last)
        except FileNotFoundError:
            return self._read(_cell_name(cell, first, last), cell, first, last)

    def _read(self, name: str, cell: Cell, first: int, last: int) -> pa.Table:
        table = self.read_table(name, kind=cell.fanout, fingerprint=cell.fingerprint)
        try:
            _require_range(table, first, last)
        except ValueError as error:
            raise Damaged(f"{name}: {error}") from None
        return table

    def find(self, cell: Cell) -> Found:
        """What is stored of a cell; every file is read and checked."""
        sound, damaged = [], []
        for name in self._names(cell):
            match = _BLOCK_NAME.search(name)
            bounds = (int(match[1]), int(match[2])) if match else None
            if bounds is None or not _whole_lanes(cell, *bounds):
                damaged.append(f"{name} is not a file of this plan")
                continue
            try:
                self._read(name, cell, *bounds)
            except FileNotFoundError:
                continue
            except Damaged as error:
                damaged.append(str(error))
            else:
                sound.append((*bounds, name))
        kept = _apart(sound)
        spare = [name for first, last, name in sound if kept.get((first, last)) != name]
        return Found(tuple(kept), tuple(damaged), tuple(spare))

    def _names(self, cell: Cell) -> list[str]:
        """All files of a cell, those of a finished one first."""
        return [f"{folder}/{entry}" for folder in _folders(cell) for entry in self.files.names(folder)]

    def read_prefix(self, cell: Cell) -> pa.Table | None:
        """The replicates from the first up to one that is missing; None where the first is."""
        blocks, reached = [], 0
        for first, last in self.find(cell).done:
            if first == reached:
                blocks.append(self.read_block(cell, first, last))
                reached = last
        return pa.concat_tables(blocks).combine_chunks() if blocks else None

    def finish(self, cell: Cell, last: int | None = None) -> pa.Table:
        """Join the blocks of a complete cell into one file, so that its bytes do not tell how it was cut.

        Parameters
        ----------
        cell : Cell
        last : int, optional
            How many replicates to keep; all by default.

        Returns
        -------
        pyarrow.Table
            These replicates, in order.

        Raises
        ------
        Damaged
            If replicates are missing.
        """
        whole = (0, cell.replicates if last is None else last)
        name = _cell_name(cell, *whole)
        try:
            table = self._read(name, cell, *whole)
        except (FileNotFoundError, Damaged):
            table = self._joined(name, cell, whole[1])
        finished, blocks = _folders(cell)
        for entry in self.files.names(finished):
            if f"{finished}/{entry}" != name:
                self.files.remove(f"{finished}/{entry}")
        self.files.drop(blocks)
        return table

    def drop_blocks(self, cells: Iterable[Cell]) -> None:
        """Remove the blocks of finished cells, and nothing that belongs to others."""
        finished = {cell.name for cell in cells}
        there = self.files.folders(_BLOCKS)
        for name in there:
            if name in finished:
                self.files.drop(f"{_BLOCKS}/{name}")
        if finished.issuperset(there) and not self.files.names(_BLOCKS):
            self.files.drop(_BLOCKS)

    def _joined(self, name: str, cell: Cell, last: int) -> pa.Table:
        try:
            table = self.read_prefix(cell)
        except FileNotFoundError:  # another run that shares the root joined them meanwhile
            table = None
        if table is not None and replicates_of(table) >= last:
            self._write(name, cell, 0, last, first_replicates(table, last))
        try:
            return self._read(name, cell, 0, last)
        except FileNotFoundError:
            raise Damaged(f"replicates/{cell.name} is not complete") from None

    def write_dataset(self, dataset: Data) -> None:
        """Keep a data set, so that workers need no other access to it.

        A damaged one is written again, and one whose rows are the same but lie elsewhere by now.
        """
        name, table = _dataset_name(dataset.name, dataset.digest()), dataset.to_table()
        try:
            kept = self.read_table(name, kind="data", fingerprint=dataset.digest())
        except (FileNotFoundError, Damaged):
            kept = None
        if kept is None or kept.schema.metadata != table.schema.metadata:
            self.write_table(name, table, kind="data", fingerprint=dataset.digest())

    def read_data(self, kind: type[_Data], name: str, digest: str) -> _Data:
        """What was kept of that kind; each process reads it once."""
        key: Any = kind

        def read() -> Any:
            return key.from_table(self.read_table(_dataset_name(name, digest), kind="data", fingerprint=digest))

        data: _Data = _DATA.get((self, kind, name, digest), read)
        return data


def sealed(table: pa.Table, *, kind: str, fingerprint: str) -> bytes:
    """The bytes of a Parquet file that carries its own seal; equal tables give equal bytes."""
    digest = _content_digest(table, SCHEMA_VERSION, kind, fingerprint)
    seal = {"schema": SCHEMA_VERSION, "kind": kind, "fingerprint": fingerprint, "digest": digest}
    metadata = dict(table.schema.metadata or {}) | {_SEAL: canonical(seal).encode()}
    buffer = io.BytesIO()
    pq.write_table(table.replace_schema_metadata(metadata), buffer, compression="zstd", write_page_checksum=True)
    return buffer.getvalue()


def replicates_of(table: pa.Table) -> int:
    """How many replicates a table holds that begins with the first."""
    return int(table.column("replicate")[-1].as_py()) + 1


def first_replicates(table: pa.Table, replicates: int) -> pa.Table:
    """The first so many replicates of a table, each of one row or more."""
    return table.slice(0, int(np.searchsorted(table.column("replicate").to_numpy(), replicates)))


def missing(cell: Cell, done: tuple[tuple[int, int], ...]) -> int:
    """How many replicates of a cell no range of `done` holds."""
    return cell.replicates - sum(last - first for first, last in done)


def _content_digest(table: pa.Table, *seal: object) -> str:
    state = hashlib.sha256(repr(seal).encode())
    for key, value in sorted((table.schema.metadata or {}).items()):
        state.update(repr((key, value)).encode())
    for field, column in zip(table.schema, table.columns, strict=True):
        meaning = sorted(item for item in (field.metadata or {}).items() if not item[0].startswith(b"PARQUET:"))
        state.update(repr((field.name, str(field.type), field.nullable, meaning, len(column))).encode())
        if column.null_count == 0 and (pa.types.is_primitive(field.type) and not pa.types.is_temporal(field.type)):
            state.update(column.to_numpy().tobytes())
        else:
            state.update(json.dumps(column.to_pylist(), default=str).encode())
    return state.hexdigest()


def _require_range(table: pa.Table, first: int, last: int) -> None:
    numbers = table.column("replicate").to_numpy()
    steps = numbers[1:] - numbers[:-1]
    if not len(numbers) or numbers[0] != first or numbers[-1] != last - 1 or ((steps != 0) & (steps != 1)).any():
        raise ValueError(f"replicates are not valid; expected {first} to {last - 1} in order")


def _apart(files: list[tuple[int, int, str]]) -> dict[tuple[int, int], str]:
    """Of files that may overlap, those apart that reach furthest from the first replicate on without a gap.

    Of these, those that hold the most replicates, and the fewest files, in order. Two runs that share the root cut a
    cell each in its own way: it is whole as soon as the files of one of them are. A block that overlaps the file of a
    finished cell, which a stopping rule has ended, cannot hide it.
    """
    files = sorted(files, key=lambda file: file[:2][::-1])
    ends = [last for _, last, _ in files]
    # Of the first so many files: how far they reach, replicates, -files, and which.
    best: list[tuple[int, int, int, Any]] = [(0, 0, 0, None)]
    for number, (first, last, _) in enumerate(files):
        reached, replicates, fewer, before = best[bisect_right(ends, first, hi=number)]
        reached = last if reached == first else reached
        chosen = (reached, replicates + last - first, fewer - 1, (number, before))
        best.append(max(best[-1], chosen, key=lambda one: one[:3]))
    numbers, chain = [], best[-1][3]
    while chain is not None:
        number, chain = chain
        numbers.append(number)
    return {files[number][:2]: files[number][2] for number in reversed(numbers)}


def _whole_lanes(cell: Cell, first: int, last: int) -> bool:
    size = cell.lane_size
    return first < last <= cell.replicates and first % size == 0 and (last % size == 0 or last == cell.replicates)


def _folders(cell: Cell) -> tuple[str, str]:
    return f"replicates/{cell.name}", f"{_BLOCKS}/{cell.name}"


def _cell_name(cell: Cell, first: int, last: int) -> str:
    return f"{_folders(cell)[0]}/{first:09d}-{last:09d}.parquet"


def _block_name(cell: Cell, first: int, last: int) -> str:
    if (first, last) == (0, cell.replicates) and cell.stopping is None:
        return _cell_name(cell, first, last)  # a cell in one block is finished
    return f"{_folders(cell)[1]}/{first:09d}-{last:09d}.parquet"


def _dataset_name(name: str, digest: str) -> str:
    return f"data/{slug(name, digest[:10])}.parquet"  # a name may hold anything, a path may not


_DATA: Kept[Any] = Kept(nbytes=lambda data: int(data.nbytes))
