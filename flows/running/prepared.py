"""A study that can start: its plan, the data of its workers, and notes for the person who starts it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from sigstats.tasks.plan import Plan
from sigstats.tasks.storage.data import StoredData
from sigstats.tasks.summary.published import Reference

#: Called with the name of an input, the number of its files that are read, and the number of its files; it may raise,
#: to stop.
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
        The data that workers will read from the store.
    notes : tuple of str
        Lines that the person should read before the study starts.
    references : tuple of Reference
        Published results, which the report shows beside the study's.
    """

    plan: Plan
    datasets: tuple[StoredData, ...] = ()
    notes: tuple[str, ...] = ()
    references: tuple[Reference, ...] = ()
