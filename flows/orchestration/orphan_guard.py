"""A companion process that ends the processes of a killed run.

Dask's workers notice the death of their parent; Prefect's temporary server does not. Every process of a run inherits a
mark in its environment. The companion holds one end of a pipe. The operating system closes the other end when the run
ends, even if it is killed; the companion then ends every process with the mark.
"""

import os
import subprocess
import sys
import uuid
from functools import cache

MARK = "SIGSTATS_RUN"


@cache
def start_guard() -> "subprocess.Popen[bytes]":
    """Start the companion, once: all processes that this one starts from now on end with it."""
    mark = uuid.uuid4().hex
    companion = subprocess.Popen(
        [sys.executable, "-P", "-m", __name__, mark],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    os.environ[MARK] = mark
    return companion


def end_marked(mark: str) -> None:
    """End every process that has the mark."""
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
