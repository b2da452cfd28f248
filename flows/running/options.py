"""How a study is planned and run: the options that are not in the study file."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from ..config.model import Strict
from .cells import ComputeCell
from .part import Part
from .progress import Display


@dataclass(frozen=True, kw_only=True)
class PlanOptions:
    """How a study is planned."""

    #: The folder that relative paths of the study start from.
    base: Path
    #: A folder or an fsspec URL, which may hold results already.
    output: str
    #: The number of workers in the estimate; None for those of this machine.
    workers: int | None = None
    #: Whether a replicate of each cell is timed.
    timing: bool = True
    #: The packages whose code the study may import.
    allow: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """How a study is run."""

    #: The folder that relative paths of the study start from.
    base: Path
    #: A folder or an fsspec URL; what it holds of the study is not computed again.
    output: str
    #: Where the study runs; None for this process, and after some seconds for local worker processes too.
    cluster: Strict | None = None
    #: What is shown meanwhile.
    display: Display = field(default_factory=lambda: Display(quiet=True))
    #: Set to stop early.
    stop: threading.Event = field(default_factory=threading.Event)
    #: Returns what computes a cell in place of what it is given, as in a task run of Prefect.
    around: Callable[[ComputeCell], ComputeCell] = lambda compute: compute
    #: The packages whose code the study may import.
    allow: tuple[str, ...] = ()
    #: The modules of what only this program has.
    code: tuple[Path, ...] = ()
    #: A folder or an fsspec URL of finished cells, which other studies share.
    cache: str | None = None
    #: The secret that its files are signed with.
    cache_key: bytes | None = None
    #: Compute this part of the study alone, and neither summarise nor report.
    part: Part | None = None
    #: Blocks go before those of studies of lower priority on the same cluster.
    priority: int = 0
    #: Seconds by the clock after which a cell counts as failed; None for no limit.
    cell_timeout: float | None = None
    #: Show what workers log at this level or above; None for nothing.
    worker_logs: str | None = None
