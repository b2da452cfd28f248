"""The workers of a run: a line for each that joins or is lost, and for a scheduler that does not answer."""

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields

from sigstats.tasks.engine.pools import THIS_PROCESS, Pool
from sigstats.tasks.storage.seal import Damaged
from sigstats.tasks.storage.store import Store

from ..pages.wording import count_of

#: The file that counts the changes of all runs. It is no part of the results, whose bytes do not depend on them.
_COUNTS = "receipts/workers.json"
#: Seconds between two notes that there are no workers.
_UNSTAFFED_SECONDS = 60.0
#: Seconds in which workers start: those that join within them are not reported.
_STARTING_SECONDS = 60.0


@dataclass
class StaffChanges:
    """How many workers were lost and joined, and how often the scheduler did not answer."""

    #: Workers that were lost; what they had not stored was computed again.
    lost: int = 0
    #: Workers that joined after the start of the run.
    joined: int = 0
    #: How often the scheduler ceased to answer.
    outages: int = 0

    def __str__(self) -> str:
        said = [
            self.lost and f"{count_of(self.lost, 'worker')} lost",
            self.joined and f"{count_of(self.joined, 'worker')} joined",
            self.outages and f"the scheduler unreachable {count_of(self.outages, 'time')}",
        ]
        return ", ".join(part for part in said if part)


class StaffWatch:
    """Watches the workers of a pool, and reports changes.

    `say`: called with a line for each change. `clock`: returns the time in seconds.

    Attributes
    ----------
    changes : StaffChanges
        The changes so far.
    """

    def __init__(self, pool: Pool, say: Callable[[str], None], *, clock: Callable[[], float] = time.monotonic) -> None:
        self.changes = StaffChanges()
        self._pool = pool
        self._say = say
        self._clock = clock
        self._began = self._told_empty = clock()
        self._there: frozenset[str] = frozenset()
        self._answers = True
        self._told: set[str] = set()

    def look(self) -> None:
        """Compare the workers with those of the last look, and report what has changed."""
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
        for worker, version in self._pool.strangers.items():
            if worker not in self._told:
                self._told.add(worker)
                self._say(f"note: worker {worker} has other code (sigstats {version}) and computes nothing")
        if self._there == THIS_PROCESS != staff:  # this process hands over to workers, and loses nothing
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
            self._say("note: there are no workers; the blocks wait for one")


def add_changes(store: Store, changes: StaffChanges) -> None:
    """Add the changes of a run to the stored sums of the runs before it."""
    if changes != StaffChanges():
        before, now = asdict(changes_of(store)), asdict(changes)
        store.write_json(_COUNTS, {key: before[key] + now[key] for key in now})


def changes_of(store: Store) -> StaffChanges:
    """The sums of the changes of all runs of an output."""
    try:
        found = store.read_json(_COUNTS)
    except (FileNotFoundError, Damaged):
        return StaffChanges()
    counts = {each.name: found.get(each.name) for each in fields(StaffChanges)}
    return StaffChanges(**{key: value for key, value in counts.items() if isinstance(value, int)})


def _named(names: list[str], verb: str = "") -> str:
    """The address of a single worker, or the number of several, with a verb."""
    if len(names) == 1:
        return f"worker {names[0]} {verb or 'is'}"
    return f"{len(names)} workers {verb or 'are'}"
