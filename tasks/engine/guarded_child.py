"""The process of other packages' code: it computes the blocks that it is sent, one after another.

It ends with the process that started it, and then ends all processes that the code has started. The output of the code
is discarded.
"""

import os
import queue
import signal
import sys
import threading
from multiprocessing.connection import Connection
from multiprocessing.reduction import ForkingPickler
from typing import Any

from .. import own_code
from .blocks import failure, run_block
from .process_memory import take_buffers

#: The messages that are sent when a fit begins and when it ends; every other message is the outcome of a block.
BEGIN, END = b"+", b"-"


def main(descriptor: int) -> None:
    """Compute the blocks that arrive through a socket until it is closed."""
    take_buffers()
    os.set_inheritable(descriptor, False)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # a batch system ends the job: the worker returns the block
    connection = Connection(descriptor)
    os.register_at_fork(after_in_child=connection.close)
    arrived: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(connection, arrived), daemon=True).start()
    while True:
        block, store, engine = arrived.get()
        outcome: Any
        timed = "time_limit" in (block.cell.limits or {})
        own_code.watch((lambda begins: connection.send_bytes(BEGIN if begins else END)) if timed else _silent)
        try:
            outcome = run_block(block, store, engine=engine)
        except OSError as error:  # the store failed
            outcome = error
        except BaseException as error:  # such as SystemExit
            raised = f"{type(error).__name__}: {error}".removesuffix(": ")
            outcome = failure(block, RuntimeError(f"its code raised {raised}"))
        connection.send_bytes(ForkingPickler.dumps(outcome))


def _silent(begins: bool) -> None:
    """Send nothing when a fit without a time limit begins or ends."""


def _receive(connection: Connection, arrived: "queue.SimpleQueue[Any]") -> None:
    """Put each message that arrives into the queue; end this process and its group when the connection closes."""
    try:
        while True:
            arrived.put(connection.recv())
    except BaseException:  # the connection is closed, or a message cannot be read
        os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    main(int(sys.argv[1]))
