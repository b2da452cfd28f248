"""The program with a fault built into its work, as SIGSTATS_FAULT (JSON) says; its workers read this file too.

``clock``   a file with the seconds by which the clock is wrong, as Python's ``time`` has it
``lease``   seconds between two renewals of a lease, and after which it expires, in place of 4 and 15
``tiny``    true: every block is of one lane
``folders`` false: no folder takes temporary files
``pause``   seconds that every lane takes longer
``kill``    [part of a cell's name, replicate]: the process that comes to it is killed
``preempt`` [part, replicate, file]: the worker whose block comes to it is killed, as often as the file says
``hog``     [part, replicate, file]: the process that comes to it takes memory without end, if the file exists;
            where the file is named "once", it is removed first
"""

import json
import os
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import psutil

from sigstats.tasks.engine import blocks as work
from sigstats.tasks.engine import execute
from sigstats.tasks.storage import lease

if "FAKETIME_TIMESTAMP_FILE" in os.environ:  # libfaketime breaks the sleep of the C library

    def sleep(seconds):
        threading.Event().wait(seconds)

    time.sleep = sleep

FAULT = json.loads(os.environ.get("SIGSTATS_FAULT", "{}"))
if not FAULT.get("folders", True):
    tempfile._candidate_tempdir_list = lambda: ["/proc"]
if "clock" in FAULT:
    real = time.time_ns
    clock = Path(FAULT["clock"])

    def wrong_ns():
        return real() + int(clock.read_text()) * 10**9

    time.time_ns = wrong_ns
    time.time = lambda: wrong_ns() / 1e9

if FAULT.get("tiny"):
    execute.run_cell.__kwdefaults__["target_seconds"] = 0.0

lease.RENEWAL, lease.PATIENCE = FAULT.get("lease", (lease.RENEWAL, lease.PATIENCE))

sound = getattr(work.fanout, "sound", work.fanout)  # Dask loads a preload again where it finds it loaded


def strike(block):
    time.sleep(FAULT.get("pause", 0) * (block.last_lane - block.first_lane))  # work that takes long
    for fault in ("kill", "preempt", "hog"):
        part, replicate, *more = FAULT.get(fault, ("", -1))
        if part not in block.cell.name or not block.first <= replicate < block.last:
            continue
        if fault == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        file = Path(more[0])
        if fault == "preempt":
            left = int(file.read_text())
            file.write_text(str(max(left - 1, 0)))
            if left:
                apart = "engine.guarded" in " ".join(psutil.Process().cmdline())
                os.kill(os.getppid() if apart else os.getpid(), signal.SIGKILL)
                time.sleep(60)  # the worker is gone
            continue
        taken = []
        present = file.exists()
        if file.name == "once":
            file.unlink(missing_ok=True)
        while present:
            taken.append(bytearray(os.urandom(1 << 20)) * 16)


def fanout(name):
    def compute(block, store, work):
        strike(block)
        return sound(name).compute(block, store, work)

    return SimpleNamespace(compute=compute)


fanout.sound = sound
work.fanout = fanout

if __name__ == "__main__":
    from sigstats.__main__ import program

    sys.exit(program())
