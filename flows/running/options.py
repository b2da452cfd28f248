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
    """How a study is planned.

    Attributes
    ----------
    base : pathlib.Path
        The folder that relative paths of the study start from.
    output : str
        A folder or an fsspec URL, which may hold results already.
    workers : int or None
        The number of workers in the estimate; None for those of this machine.
    timing : bool
        Whether a replicate of each cell is timed.
    allow : tuple of str
        The packages whose code the study may import.
    """

    base: Path
    output: str
    workers: int | None = None
    timing: bool = True
    allow: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """How a study is run.

    Attributes
    ----------
    base : pathlib.Path
        The folder that relative paths of the study start from.
    output : str
        A folder or an fsspec URL; what it holds of the study is not computed again.
    cluster : Strict or None
        Where the study runs; None for this process, and after some seconds for local worker processes too.
    display : Display
        What is shown meanwhile.
    stop : threading.Event
        Set to stop early.
    around : callable
        Returns what computes a cell in place of what it is given, as in a task run of Prefect.
    allow : tuple of str
        The packages whose code the study may import.
    cache : str or None
        A folder or an fsspec URL of finished cells, which other studies share.
    cache_key : bytes or None
        The secret that its files are signed with.
    part : Part or None
        Compute this part of the study alone, and neither summarise nor report.
    priority : int
        Blocks go before those of studies of lower priority on the same cluster.
    """

    base: Path
    output: str
    cluster: Strict | None = None
    display: Display = field(default_factory=lambda: Display(quiet=True))
    stop: threading.Event = field(default_factory=threading.Event)
    around: Callable[[ComputeCell], ComputeCell] = lambda compute: compute
    allow: tuple[str, ...] = ()
    cache: str | None = None
    cache_key: bytes | None = None
    part: Part | None = None
    priority: int = 0
