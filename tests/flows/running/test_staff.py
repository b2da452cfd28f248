"""A line for each change among the workers of a run, and for a server that goes and comes back."""

from dataclasses import dataclass
from types import MappingProxyType

import pytest

from sigstats.flows.running.workers import StaffChanges, StaffWatch, add_changes, changes_of
from sigstats.tasks.storage.store import Store


@dataclass
class Pool:
    staff: frozenset | None = frozenset()
    strangers = MappingProxyType({})


class Told:
    """A pool whose workers a test changes, and what is said of it."""

    def __init__(self):
        self.now, self.lines, self.pool = 0.0, [], Pool()
        self.watch = StaffWatch(self.pool, self.lines.append, clock=lambda: self.now)

    def look(self, names, after=1.0):
        self.now += after
        self.pool.staff = None if names is None else frozenset(names)
        before = len(self.lines)
        self.watch.look()
        return self.lines[before:]


@pytest.fixture
def told():
    return Told()


def test_the_workers_that_a_run_begins_with_are_no_news(told):
    assert [told.look("a"), told.look("abc"), told.look("abc")] == [[], [], []]
    assert told.watch.changes.lost == 0


def test_a_run_that_goes_on_with_workers_has_lost_none(told):
    told.look(["this process"])
    assert told.look("ab", after=100) == []
    assert told.look("abc") == []
    assert told.look("ab") == ["note: worker c is gone, 2 left; blocks that were not stored are computed again"]
    assert (told.watch.changes.lost, told.watch.changes.joined) == (1, 0)


def test_a_lost_worker_and_its_successor_are_a_line_each(told):
    told.look("abc")
    assert told.look("ab") == ["note: worker c is gone, 2 left; blocks that were not stored are computed again"]
    assert told.look("ab") == []
    assert told.look("abd") == ["note: worker d joined, 3 now"]
    assert told.watch.changes.lost == 1


def test_several_at_once_are_one_line(told):
    told.look("abc")
    assert told.look("dea") == [
        "note: 2 workers are gone, 3 left; blocks that were not stored are computed again",
        "note: 2 workers joined, 3 now",
    ]
    assert told.watch.changes.lost == 2


def test_a_worker_that_joins_late_is_told_without_any_loss(told):
    told.look("a")
    assert told.look("ab", after=100) == ["note: worker b joined, 2 now"]


def test_a_scheduler_that_is_gone_is_no_loss_of_workers(told):
    told.look("ab")
    assert told.look(None) == ["note: the scheduler does not answer; the blocks wait for it"]
    assert told.look(None) == []
    assert told.look("ab") == ["note: the scheduler answers again"]
    assert told.watch.changes.lost == 0


def test_that_no_worker_is_there_is_said_once_a_minute(told):
    missing = ["note: there are no workers; the blocks wait for one"]
    assert [told.look("", after=20) for _ in range(6)] == [[], [], missing, [], [], missing]
    assert told.look("a", after=20) == ["note: worker a joined, 1 now"]
    assert [told.look("", after=20)[-1:] == missing for _ in range(3)] == [False, False, True]


def test_what_changed_is_counted(told):
    for names in ("abc", "ab", "abd", None, None, "abd", None, "abde"):
        told.look(names)
    assert told.watch.changes == StaffChanges(lost=1, joined=2, outages=2)
    assert str(told.watch.changes) == "1 worker lost, 2 workers joined, the scheduler unreachable 2 times"


def test_the_changes_of_several_runs_add_up(tmp_path):
    store = Store(str(tmp_path))
    assert str(changes_of(store)) == ""
    add_changes(store, StaffChanges())
    assert not (tmp_path / "receipts").exists()
    add_changes(store, StaffChanges(lost=2, outages=1))
    add_changes(store, StaffChanges(lost=3, joined=3))
    assert changes_of(store) == StaffChanges(lost=5, joined=3, outages=1)


def test_what_an_older_version_counted_is_taken_up(tmp_path):
    store = Store(str(tmp_path))
    store.write_json("receipts/workers.json", {"lost": 2})
    add_changes(store, StaffChanges(lost=1, outages=1))
    assert changes_of(store) == StaffChanges(lost=3, outages=1)
