"""The mark of a finished run: a digest of what it left, by which the next run sees that nothing is to be done.

To read and check a file of replicates takes ten times as long as to hash its bytes.
"""

import contextlib
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sigstats.tasks.engine.version import all_code
from sigstats.tasks.plan import Cell, Plan
from sigstats.tasks.schema import Hypothesis
from sigstats.tasks.storage.block_files import BLOCKS, folders, range_in
from sigstats.tasks.storage.seal import Damaged
from sigstats.tasks.storage.store import Store

#: It is no part of the results: it depends on the code that made them.
_MARK = "finished.json"
#: The files of the root that a finished study has, and those that it may have.
_ROOT, _OPTIONAL = ("study.json", "plan.parquet", "summary.parquet", "report.html"), ("references.parquet",)


def mark_finished(store: Store, plan: Plan, identity: Mapping[str, Any]) -> None:
    """Mark an output as that of a finished run, if it is one; without the mark, the next run checks each file.

    `identity`: the values of ``study.json``.
    """
    with contextlib.suppress(OSError, Damaged):
        found = _digest(store, plan.cells, identity)
        if found is not None:
            store.write_json(_MARK, {"digest": found})


def finished_before(store: Store, plan: Plan, identity: Mapping[str, Any]) -> list[Hypothesis] | None:
    """The stored hypotheses of a study that has finished; None unless the output is as the same code has left it."""
    try:
        marked = store.read_json(_MARK).get("digest")
        if marked is None or marked != _digest(store, plan.cells, identity):
            return None
        rows = store.read_table("summary.parquet", kind="summary").to_pylist()
    except (OSError, Damaged):
        return None
    return [Hypothesis(**row) for row in rows]


def stored_replicates(store: Store, cell: Cell) -> int:
    """The number of replicates of a finished cell."""
    ranges = (range_in(f"/{name}") for name in store.files.names(folders(cell)[0]))
    return max((bounds[1] for bounds in ranges if bounds is not None), default=0)


def _digest(store: Store, cells: Sequence[Cell], identity: Mapping[str, Any]) -> str | None:
    """A digest of the code, the study and the bytes of its files; None where a cell is not finished."""
    files = store.files
    if files.folders(BLOCKS) or store.read_json("study.json") != identity:
        return None
    found = hashlib.sha256(all_code().encode())
    present = files.names("")
    names = [
        *_ROOT,
        *(name for name in _OPTIONAL if name in present),
        *_within("data", files.names),
        *_within("code", files.names),
    ]
    for cell in cells:
        of_cell = _within(folders(cell)[0], files.names)
        if len(of_cell) != 1:
            return None
        found.update(json.dumps([cell.name, cell.replicates, cell.stopping and dict(cell.stopping)]).encode())
        names += of_cell
    for name in names:
        content = files.read(name)
        found.update(f"{name}:{len(content)}:".encode() + hashlib.sha256(content).digest())
    return found.hexdigest()


def _within(folder: str, names: Callable[[str], Sequence[str]]) -> list[str]:
    return [f"{folder}/{name}" for name in names(folder)]
