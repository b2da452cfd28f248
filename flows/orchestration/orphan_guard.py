"""A companion process that outlives a killed run just long enough to end what the run had started.

Dask's workers notice that their parent is gone; Prefect's temporary server does not. Everything that a run starts
inherits a mark in its environment, and the companion ends what bears the mark when the run's end of a pipe closes,
which the operating system does for it in any death.
"""

import os
import subprocess
import sys
import uuid
from functools import cache

MARK = "SIGSTATS_RUN"


@cache
def start_guard() -> "subprocess.Popen[bytes]":
    """From now on, what this process starts ends with it, however it ends.

    The companion is started once, and waits on a pipe whose other end only the end of this process closes.
    """
    mark = uuid.uuid4().hex
    companion = subprocess.Popen(
        [sys.executable, "-m", __name__, mark],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    os.environ[MARK] = mark
    return companion


def end_marked(mark: str) -> None:
    """End every process that bears the mark."""
    import psutil

    for process in psutil.process_iter():
        try:
            if process.environ().get(MARK) == mark:
                process.kill()
        except (psutil.Error, OSError):
            continue


if __name__ == "__main__":
    sys.stdin.read()
    end_marked(sys.argv[1])
