"""Ctrl-C where Python, and not the program, runs a study."""

import os
import signal
import sys
import threading
import traceback

import pytest

from sigstats.flows.running import cells
from sigstats.flows.running.cells import run_cells
from sigstats.flows.running.interrupt import run_interruptibly

from ...cells import a_cell


@pytest.fixture
def interrupts(monkeypatch):
    """A signal that is to this process what Ctrl-C is, and to no other of the run."""

    def interrupt(number, frame):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGUSR1, interrupt)
    yield signal.SIGUSR1
    signal.signal(signal.SIGUSR1, before)


def waits_for_a_cell(thread):
    """Whether a thread has sent all cells, and not only some: one that is interrupted before joins no other."""
    frames = [each.f_code.co_name for each, _ in traceback.walk_stack(sys._current_frames()[thread.ident])]
    return "_wait_for" in frames


def test_a_run_in_threads_stops_at_once(interrupts):
    stop, stopped, begun = threading.Event(), [], []
    five = tuple(a_cell(subject={"dataset": str(number)}) for number in range(5))

    def compute(cell):
        begun.append(cell.name)
        if len(begun) == 1:
            while not waits_for_a_cell(threading.main_thread()):
                stop.wait(0.01)
            os.kill(os.getpid(), interrupts)
        stopped.append(stop.wait(30))
        raise RuntimeError("stopped")

    with pytest.raises(KeyboardInterrupt):
        run_cells(five, compute, threads=lambda: 2, stop=stop)
    assert stopped
    assert all(stopped)
    assert len(begun) <= 2


def test_a_cell_waits_for_its_own_prerequisites_only(monkeypatch):
    """The first cell lasts until the third has run, which needs the second."""
    first, second, third = (a_cell(subject={"dataset": name}) for name in "abc")
    monkeypatch.setattr(cells, "prerequisites", lambda cell: [second] if cell == third else [])
    third_ran, order = threading.Event(), []

    def compute(cell):
        order.append(cell)
        if cell == third:
            third_ran.set()
        return cell != first or third_ran.wait(60)

    stop = threading.Event()
    assert all(cells.run_cells((third, first, second), compute, threads=lambda: 2, stop=stop))
    assert order.index(second) < order.index(third)
    order.clear()
    cells.run_cells((third, first, second), compute, threads=lambda: 1, stop=stop)
    assert sorted(order, key=[first, second, third].index) == [first, second, third]
    assert order.index(second) < order.index(third)


def test_a_run_that_stops_itself_tells_its_own_error():
    def work(stop):
        stop.set()
        raise RuntimeError("can't start new thread")

    with pytest.raises(RuntimeError, match="new thread"):
        run_interruptibly(work)
