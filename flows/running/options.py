"""Options of planning and running that are not in the study file, and the part of a study to run.

All arguments of a call from Python are checked here before anything is written.
"""

import re
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

from fsspec.core import url_to_fs
from fsspec.registry import get_filesystem_class, known_implementations

from sigstats._common.credentials import refuse_credentials
from sigstats._common.extras import with_extra
from sigstats._common.messages import one_line, refuse, shown
from sigstats._common.validation import as_count
from sigstats.tasks.engine.execute import Outcome
from sigstats.tasks.plan import Cell, Plan
from sigstats.tasks.storage.data import StoredData
from sigstats.tasks.storage.store import Store
from sigstats.tasks.summary import Reference

from ..clusters import allowed, as_cluster
from ..config.model import Strict, Study
from ..errors import BadInput
from .progress import Display

#: The maximum number of parts. Few cells have more lanes.
_MOST = 100_000


@dataclass(frozen=True)
class Part:
    """Part `number` of `total` parts, counted from 1."""

    number: int
    total: int

    def __str__(self) -> str:
        return f"{self.number}/{self.total}"

    def lanes(self, cells: Sequence[Cell]) -> dict[str, tuple[int, int]]:
        """Return the lanes ``first <= lane < last`` of this part, by cell name.

        The lanes of a cell are divided among the parts. A cell that a rule may stop belongs to a single part, since the
        rule looks at all replicates in order. Cells with fewer lanes than parts are assigned to the parts in turn.
        """
        entries, turn = {}, 0
        for cell in cells:
            pieces = min(self.total, cell.lanes) if cell.stopping is None else 1
            piece = (self.number - 1 - turn) % self.total
            if piece < pieces:
                entries[cell.name] = (cell.lanes * piece // pieces, cell.lanes * (piece + 1) // pieces)
            turn = (turn + pieces) % self.total
        return entries


def parse_part(text: str) -> Part:
    """Return the part that ``--part`` names, as in ``3/40``; raise BadInput if it is invalid."""
    match = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", text)
    number, total = (int(match[1]), int(match[2])) if match else (0, 0)
    if not 1 <= number <= total <= _MOST:
        wanted = f"1/{total} to {total}/{total}" if match and 1 <= total <= _MOST else "K/N, as in 1/4"
        raise BadInput(f"--part: {shown(text)} is not valid; expected {wanted}")
    return Part(number, total)


#: Called with the name of an input, the number of files that have been read, and the number of all files. It may raise
#: an exception to stop.
Progress: TypeAlias = Callable[[str, int, int], None]


def no_progress(what: str, done: int, total: int) -> None:
    """Show no progress."""


@dataclass(frozen=True)
class Prepared:
    """A study that is ready to start. Nothing has been written yet."""

    plan: Plan
    #: The data that workers will read from the store.
    datasets: tuple[StoredData, ...] = ()
    #: Lines that the user should read before the study starts.
    notes: tuple[str, ...] = ()
    #: Published results, with which the report compares the study's.
    references: tuple[Reference, ...] = ()


#: Computes a cell and returns the outcome; raises Interrupted if the run is asked to stop.
ComputeCell: TypeAlias = Callable[[Cell], Outcome]


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """Options of running or planning a study."""

    #: The folder at which relative paths of the study start.
    base: Path
    #: A folder or an fsspec URL. Results that it contains are not computed again.
    output: str
    #: The cluster on which the study runs, or None for this process and, after some seconds, local worker processes.
    cluster: Strict | None = None
    display: Display = field(default_factory=lambda: Display(quiet=True))
    stop: threading.Event = field(default_factory=threading.Event)
    #: Wraps the function that computes a cell, for example to call it in a Prefect task run.
    around: Callable[[ComputeCell], ComputeCell] = lambda compute: compute
    #: Context manager that is entered with the store while the run holds the lock of its output.
    holding: Callable[[Store], AbstractContextManager[None]] = lambda _: nullcontext()
    #: The packages whose code the study may import.
    allow: tuple[str, ...] = ()
    #: The modules with code that is defined only in the calling program.
    code: tuple[Path, ...] = ()
    #: The only part of the study to compute, without summary and report, or None for the whole study.
    part: Part | None = None
    #: Blocks precede blocks of studies with lower priority on the same cluster.
    priority: int = 0


def as_place(place: Any, name: str = "output") -> str:
    """Return a folder or a URL as a string; raise ValueError if this machine cannot open it."""
    if not isinstance(place, (str, PathLike)) or not str(place).strip():
        raise refuse(name, place, "a folder or an fsspec URL")
    text = str(place)
    refuse_credentials({name: text})
    scheme, separator, _ = text.partition("://")
    if not separator:
        if Path(text).exists() and not Path(text).is_dir():
            raise ValueError(f"{name}: {text!r} is a file; give a folder or an fsspec URL")
        return text
    if scheme not in known_implementations:
        raise ValueError(f"{name}: {text!r} is not valid; expected a protocol of fsspec, not {scheme!r}")
    try:
        get_filesystem_class(scheme)
    except ImportError as error:
        why = with_extra(error)
        raise ValueError(f"{name}: {text!r} is not valid here; a package is missing ({why})") from None
    try:
        url_to_fs(text)
    except Exception as error:  # each file system raises its own errors
        raise ValueError(f"{name}: {text!r} cannot be opened ({one_line(error)[:200]})") from None
    return text


def texts(value: Any, name: str, of: str) -> Sequence[str]:
    """Return `value` if it is a list or tuple of strings; raise ValueError otherwise. `of`: the word for its items."""
    if not isinstance(value, (list, tuple)) or not all(isinstance(item, str) for item in value):
        raise refuse(name, value, f"a list of {of}")
    return value


def run_options(
    study: Study,
    base: Path,
    *,
    in_cells: bool,
    output: Any,
    cluster: Any = None,
    workers: Any = None,
    allow: Any = (),
    part: str | None = None,
    priority: Any = None,
    quiet: bool = True,
) -> RunOptions:
    """Return `RunOptions` from the arguments of a call. A study that is not `in_cells` has no workers.

    Raises BadInput or ValueError, with a message in one line, if an argument is invalid.
    """
    place = as_place(output)
    priority = as_count(0 if priority is None else priority, "priority", minimum=-1000, maximum=1000)
    of_cells = {"cluster": cluster, "workers": workers, "part": part, "priority": priority or None}
    for name, value in () if in_cells else of_cells.items():
        if value is not None:
            raise ValueError(f"{name}: {shown(value)} is not valid: a {study.kind} study has no workers; remove it")
    packages = texts(allow, "allow", "names of packages")
    where = None if cluster is None and workers is None else as_cluster(cluster, workers, packages)
    if priority and getattr(where, "kind", None) == "serial":
        raise ValueError(f"priority: {priority} is not valid: a cluster of kind 'serial' has no workers; remove it")
    return RunOptions(
        base=base,
        output=place,
        display=Display(quiet=quiet, study=study.name),
        cluster=where,
        allow=allowed(packages, where),
        part=None if part is None else parse_part(part),
        priority=priority,
    )
