"""The process in which code of other packages runs: it computes the blocks that it is sent, one after another.

It ends with the process that started it, and takes with it what the code has forked. What the code prints goes
nowhere: its standard streams are closed to it.
"""

import os
import queue
import signal
import sys
import threading
from multiprocessing.connection import Connection
from multiprocessing.reduction import ForkingPickler
from typing import Any

from .. import fit_watch
from .run_block import failure, run_block

#: What is sent when a fit begins and when it ends; everything else is the outcome of a block.
BEGIN, END = b"+", b"-"


def main(descriptor: int) -> None:
    """Compute the blocks that arrive through a socket until it is closed."""
    os.set_inheritable(descriptor, False)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # of a job that is told to go: its worker hands back the block
    connection = Connection(descriptor)
    os.register_at_fork(after_in_child=connection.close)
    arrived: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(connection, arrived), daemon=True).start()
    while True:
        block, store, engine = arrived.get()
        outcome: Any
        timed = "time_limit" in (block.cell.limits or {})
        fit_watch.watch((lambda begins: connection.send_bytes(BEGIN if begins else END)) if timed else _silent)
        try:
            outcome = run_block(block, store, engine=engine)
        except OSError as error:  # of the store
            outcome = error
        except BaseException as error:  # a classifier may end its process in good order
            outcome = failure(block, RuntimeError(f"its code raised {type(error).__name__}: {error}"))
        connection.send_bytes(ForkingPickler.dumps(outcome))


def _silent(begins: bool) -> None:
    """Tell nothing of a fit that has no limit."""


def _receive(connection: Connection, arrived: "queue.SimpleQueue[Any]") -> None:
    """Pass on what is sent; end this process and its group when the other side is gone."""
    try:
        while True:
            arrived.put(connection.recv())
    except BaseException:  # the other side is gone, or its message cannot be read
        os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    main(int(sys.argv[1]))
