"""Local workers that die while they start."""

import subprocess
import sys

import pytest

from ..conftest import environment

pytestmark = [pytest.mark.processes, pytest.mark.faults]

#: A worker is killed, and the scheduler refuses the first that comes in its place, as it does while it still holds the
#: dead one's name.
CODE = """
import time
import psutil
from distributed import Scheduler
from sigstats.flows.clusters.local import Cluster, open_pool

def register(self, comm, **about):
    come.append(about["name"])
    if len(come) == 3:
        return comm.write({"status": "error", "message": "name taken", "time": time.time()})
    return sound(self, comm, **about)

if __name__ == "__main__":
    come, sound, Scheduler.add_worker = [], Scheduler.add_worker, register
    with open_pool(Cluster(workers=2)) as pool:
        started = psutil.Process().children(recursive=True)
        next(child for child in started if "spawn_main" in " ".join(child.cmdline())).kill()
        end = time.monotonic() + 120
        while not (len(come) > 3 and len(pool.client.nthreads()) == 2) and time.monotonic() < end:
            time.sleep(0.1)
        print(len(come), len(pool.client.nthreads()))
"""


def test_a_worker_that_is_refused_is_started_again_in_silence(tmp_path):
    (tmp_path / "refusing.py").write_text(CODE)
    done = subprocess.run(
        [sys.executable, tmp_path / "refusing.py"], capture_output=True, text=True, env=environment(), timeout=300
    )
    assert (done.stdout, done.stderr, done.returncode) == ("4 2\n", "", 0)
