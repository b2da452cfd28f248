"""A study that can start: its plan, the data of its workers, and notes for the person who starts it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from sigstats.tasks.plan import Plan
from sigstats.tasks.storage.store import StoredData
from sigstats.tasks.summary.published import Reference

#: Called with the name of an input, the number of its files that are read, and the number of its files; it may raise,
#: to stop.
Progress: TypeAlias = Callable[[str, int, int], None]


def no_progress(what: str, done: int, total: int) -> None:
    """Show no progress."""


@dataclass(frozen=True)
class Prepared:
    """A study that can start: nothing of it is written yet."""

    #: All cells.
    plan: Plan
    #: The data that workers will read from the store.
    datasets: tuple[StoredData, ...] = ()
    #: Lines that the person should read before the study starts.
    notes: tuple[str, ...] = ()
    #: Published results, which the report shows beside the study's.
    references: tuple[Reference, ...] = ()
