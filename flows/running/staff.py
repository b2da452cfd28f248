"""Who computes: a line for each worker that joins or is gone, and for a scheduler that does not answer."""

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields

from sigstats.tasks.engine.pools import THIS_PROCESS, Pool
from sigstats.tasks.storage.seal import Damaged
from sigstats.tasks.storage.store import Store

from ..report.wording import count_of

#: Where the changes of all runs are counted: beside the results, which are the same bytes whatever happened.
_COUNTS = "receipts/workers.json"
#: Seconds between two notes that no worker is there.
_UNSTAFFED_SECONDS = 60.0
#: Seconds that workers have to start, in which those that a run begins with are no news.
_STARTING_SECONDS = 60.0


@dataclass
class StaffChanges:
    """How often something changed in who computes.

    Attributes
    ----------
    lost : int
        Workers that are gone; what they had not stored was computed again.
    joined : int
        Workers that came once the run was under way.
    outages : int
        Times that the scheduler no longer answered.
    prefect_lost : int
        Times that Prefect's server no longer followed a run.
    """

    lost: int = 0
    joined: int = 0
    outages: int = 0
    prefect_lost: int = 0

    def __str__(self) -> str:
        said = [
            self.lost and f"{count_of(self.lost, 'worker')} lost",
            self.joined and f"{count_of(self.joined, 'worker')} joined",
            self.outages and f"the scheduler gone {count_of(self.outages, 'time')}",
            self.prefect_lost and f"Prefect's server gone {count_of(self.prefect_lost, 'time')}",
        ]
        return ", ".join(part for part in said if part)


class StaffWatch:
    """Looks at the workers of a pool, and says what has changed since it last looked.

    Parameters
    ----------
    pool : Pool
    say : callable
        Told each change in a line.
    clock : callable
        The time in seconds.

    Attributes
    ----------
    changes : StaffChanges
        How often something changed so far.
    """

    def __init__(self, pool: Pool, say: Callable[[str], None], *, clock: Callable[[], float] = time.monotonic) -> None:
        self.changes = StaffChanges()
        self._pool = pool
        self._say = say
        self._clock = clock
        self._began = self._told_empty = clock()
        self._there: frozenset[str] = frozenset()
        self._answers = True

    def look(self) -> None:
        """Compare the workers with those that were last there."""
        staff = self._pool.staff
        if staff is None:
            if self._answers:
                self.changes.outages += 1
                self._say("note: the scheduler does not answer; the blocks wait for it")
            self._answers = False
            return
        if not self._answers:
            self._say("note: the scheduler answers again")
        self._answers = True
        if self._there == THIS_PROCESS != staff:  # which hands its work to workers, and loses none of it
            self._there, self._began = frozenset(), self._clock()
        gone, new = sorted(self._there - staff), sorted(staff - self._there)
        if gone:
            self.changes.lost += len(gone)
            self._say(f"note: {_named(gone)} gone, {len(staff)} left; what was not stored is computed again")
        if new and (self.changes.lost or self._clock() - self._began > _STARTING_SECONDS):
            self.changes.joined += len(new)
            self._say(f"note: {_named(new, 'joined')}, {len(staff)} now")
        self._there = staff
        self._note_empty(bool(staff))

    def _note_empty(self, staffed: bool) -> None:
        now = self._clock()
        if staffed:
            self._told_empty = now
        elif now - self._told_empty >= _UNSTAFFED_SECONDS:
            self._told_empty = now
            self._say("note: no worker is there; the blocks wait for one")


def add_changes(store: Store, changes: StaffChanges) -> None:
    """Add the changes of a run to those of the runs before it."""
    if changes != StaffChanges():
        before, now = asdict(changes_of(store)), asdict(changes)
        store.write_json(_COUNTS, {key: before[key] + now[key] for key in now})


def changes_of(store: Store) -> StaffChanges:
    """The changes of all runs of an output."""
    try:
        found = store.read_json(_COUNTS)
    except (FileNotFoundError, Damaged):
        return StaffChanges()
    counts = {each.name: found.get(each.name) for each in fields(StaffChanges)}
    return StaffChanges(**{key: value for key, value in counts.items() if isinstance(value, int)})


def _named(names: list[str], verb: str = "") -> str:
    """One worker by its address, or how many."""
    if len(names) == 1:
        return f"worker {names[0]} {verb or 'is'}"
    return f"{len(names)} workers {verb or 'are'}"
