"""Options of planning and running that are not in the study file, and the part that is run.

Every argument of a call from Python is checked here before anything is written.
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

#: Largest number of parts: few cells of a study have more lanes.
_MOST = 100_000


@dataclass(frozen=True)
class Part:
    """Part `number`, from 1, of `total`."""

    number: int
    total: int

    def __str__(self) -> str:
        return f"{self.number}/{self.total}"

    def lanes(self, cells: Sequence[Cell]) -> dict[str, tuple[int, int]]:
        """Return the lanes ``first <= lane < last`` of this part, by the names of its cells.

        The lanes of a cell are divided among all parts, or as many as there are lanes. A cell that a rule may stop is
        the work of one part, since the rule looks at all replicates before the next. Cells with fewer lanes than there
        are parts go to the parts in turn.
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
    """Return the part that ``--part`` names, as in ``3/40``."""
    match = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", text)
    number, total = (int(match[1]), int(match[2])) if match else (0, 0)
    if not 1 <= number <= total <= _MOST:
        wanted = f"1/{total} to {total}/{total}" if match and 1 <= total <= _MOST else "K/N, as in 1/4"
        raise BadInput(f"--part: {shown(text)} is not valid; expected {wanted}")
    return Part(number, total)


#: Called with the name of an input, the number of its files that are read, and the number of its files; it may raise,
#: to stop.
Progress: TypeAlias = Callable[[str, int, int], None]


def no_progress(what: str, done: int, total: int) -> None:
    """Show no progress."""


@dataclass(frozen=True)
class Prepared:
    """A study that is ready to start; nothing has been written yet."""

    plan: Plan
    #: The data that workers will read from the store.
    datasets: tuple[StoredData, ...] = ()
    #: Lines that the person should read before the study starts.
    notes: tuple[str, ...] = ()
    #: Published results, which the report compares with those of the study.
    references: tuple[Reference, ...] = ()


#: Computes one cell and returns how it ended; raises Interrupted once the run is told to stop.
ComputeCell: TypeAlias = Callable[[Cell], Outcome]


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """Options of running or planning a study."""

    #: The folder that relative paths of the study start from.
    base: Path
    #: A folder or an fsspec URL; what it holds of the study is not computed again.
    output: str
    #: Where the study runs; None for this process, and after some seconds for local worker processes too.
    cluster: Strict | None = None
    display: Display = field(default_factory=lambda: Display(quiet=True))
    stop: threading.Event = field(default_factory=threading.Event)
    #: Returns what computes a cell in place of what it is given, as in a task run of Prefect.
    around: Callable[[ComputeCell], ComputeCell] = lambda compute: compute
    #: Entered with the store while a run holds the lock of its output.
    holding: Callable[[Store], AbstractContextManager[None]] = lambda _: nullcontext()
    #: The packages whose code the study may import.
    allow: tuple[str, ...] = ()
    #: The modules of what only this program has.
    code: tuple[Path, ...] = ()
    #: Compute only this part of the study, and neither summarise nor report.
    part: Part | None = None
    #: Blocks go before those of studies of lower priority on the same cluster.
    priority: int = 0


def as_place(place: Any, name: str = "output") -> str:
    """Return a folder or a URL that this machine can reach as text, or raise ValueError."""
    if not isinstance(place, (str, PathLike)) or not str(place).strip():
        raise refuse(name, place, "a folder or an fsspec URL")
    text = str(place)
    refuse_credentials({name: text})
    scheme, separator, _ = text.partition("://")
    if not separator:
        if Path(text).exists() and not Path(text).is_dir():
            raise ValueError(f"{name}: {text!r} is not valid; it is a file, expected a folder or an fsspec URL")
        return text
    if scheme not in known_implementations:
        raise ValueError(f"{name}: {text!r} is not valid; fsspec has no protocol {scheme!r}")
    try:
        get_filesystem_class(scheme)
    except ImportError as error:
        why = with_extra(error)
        raise ValueError(f"{name}: {text!r} is not valid here; a package is missing ({why})") from None
    try:
        url_to_fs(text)
    except Exception as error:  # each file system raises its own errors
        raise ValueError(f"{name}: {text!r} is not valid; it cannot be opened ({one_line(error)[:200]})") from None
    return text


def texts(value: Any, name: str, of: str) -> Sequence[str]:
    """Return a list of texts, or raise ValueError."""
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
    """Return `RunOptions` from the arguments of a call; a study that is not `in_cells` has no workers.

    Raises BadInput or ValueError, of one line.
    """
    place = as_place(output)
    priority = as_count(0 if priority is None else priority, "priority", minimum=-1000, maximum=1000)
    of_cells = {"cluster": cluster, "workers": workers, "part": part, "priority": priority or None}
    for name, value in () if in_cells else of_cells.items():
        if value is not None:
            raise refuse(name, value, f"none: a {study.kind} study runs in this process")
    packages = texts(allow, "allow", "names of packages")
    where = None if cluster is None and workers is None else as_cluster(cluster, workers, packages)
    if priority and getattr(where, "kind", None) == "serial":
        raise refuse("priority", priority, "none: a cluster of kind 'serial' has no workers")
    return RunOptions(
        base=base,
        output=place,
        display=Display(quiet=quiet, study=study.name),
        cluster=where,
        allow=allowed(packages, where),
        part=None if part is None else parse_part(part),
        priority=priority,
    )
