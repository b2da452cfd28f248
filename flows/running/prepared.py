"""A study that can start: its plan, what its workers read, and what a person should know before."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from sigstats.tasks.plan import Plan
from sigstats.tasks.storage.data import StoredData
from sigstats.tasks.summary.published import Reference

#: Called with what is read, how many of its files are read, and how many there are; it may raise, to stop.
Progress: TypeAlias = Callable[[str, int, int], None]


def no_progress(what: str, done: int, total: int) -> None:
    """Show no progress."""


@dataclass(frozen=True)
class Prepared:
    """A study that can start: nothing of it is written yet.

    Attributes
    ----------
    plan : Plan
        All cells.
    datasets : tuple of Dataset or Documents
        What workers will read from the store.
    notes : tuple of str
        What a person should know before it starts, a line each.
    references : tuple of Reference
        What a publication prints of the results.
    """

    plan: Plan
    datasets: tuple[StoredData, ...] = ()
    notes: tuple[str, ...] = ()
    references: tuple[Reference, ...] = ()
