"""Local workers: those that die while they start, and those that this process has no room for."""

import tempfile

import pytest

from sigstats.flows.clusters.local import Cluster, _require_files, open_pool, scratch_folder
from sigstats.flows.commands import _remedy
from sigstats.flows.errors import BadInput

from ..conftest import python

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
    done = python(tmp_path / "refusing.py")
    assert (done.stdout, done.stderr, done.returncode) == ("4 2\n", "", 0)


def test_workers_that_the_limit_of_open_files_has_no_room_for_are_refused(monkeypatch):
    resource = pytest.importorskip("resource", reason="needs limits of a process, which Windows lacks")
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (24, 24) if kind == resource.RLIMIT_NOFILE else (-1, -1))
    with (
        pytest.raises(BadInput, match=r"2 workers need \d+ open files, but this process may have only 24"),
        open_pool(Cluster(workers=2)),
    ):
        pass


def test_the_limit_of_open_files_is_raised_where_it_may_be(monkeypatch):
    resource = pytest.importorskip("resource", reason="needs limits of a process, which Windows lacks")
    asked = []
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (24, 4096))
    monkeypatch.setattr(resource, "setrlimit", lambda kind, limits: asked.append(limits))
    _require_files(10)
    assert asked == [(200, 4096)]


#: Workers would be started with the first block, if that were possible.
IN_A_WORKER = """
from distributed import Client, LocalCluster

def study(output, cluster):
    import sigstats
    from sigstats.flows.running import workers
    workers.GROW_AFTER = 0.0
    try:
        return sigstats.run_study(
            {"kind": "benchmark", "datasets": ["iris"], "classifiers": ["lda"], "permutation": {"resamples": 99}},
            output=output, cluster=cluster, quiet=False,
        ).summary["p_value"].round(2).tolist()
    except ValueError as error:
        return str(error)

if __name__ == "__main__":
    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as made, Client(made) as client:
        for cluster in (None, "local"):
            print(client.submit(study, str(cluster), cluster).result())
"""


def test_a_process_that_may_start_none_computes_by_itself(tmp_path):
    (tmp_path / "tasks.py").write_text(IN_A_WORKER)
    done = python("tasks.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "no workers could be started" not in done.stderr
    computed, refused = done.stdout.splitlines()
    assert computed == "[0.01, 0.89]"
    assert refused.startswith("cluster: local cannot be used in a worker process of Dask or of a pool")


def test_a_machine_without_a_folder_for_temporary_files_is_told_what_to_set(monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setattr(tempfile, "_candidate_tempdir_list", lambda: ["/proc"])
    with pytest.raises(FileNotFoundError) as caught:
        scratch_folder()
    assert _remedy(caught.value).endswith("TMPDIR")
