"""What the workers of a cluster are told of Dask's settings, and what they load before their first block."""

import json

import pytest

from ..conftest import environment, python

pytestmark = pytest.mark.processes

CODE = """
import json, os, sys, time
from sigstats.flows.clusters.local import Cluster, open_pool
from sigstats.tasks.plan import Cell, Plan
from sigstats.tasks.record import Work

def look():
    import dask, sys
    keys = "worker.profile.enabled", "admin.tick.interval", "scheduler.worker-saturation", "worker.memory.pause"
    loaded = "sigstats.tasks.benchmark.fan_outs" in sys.modules
    return {**{key: dask.config.get(f"distributed.{key}") for key in keys}, "loaded": loaded}

if __name__ == "__main__":
    variables = dict(os.environ)
    with open_pool(Cluster(workers=2)) as pool:
        before = list(pool.client.run(look).values())
        of = {"version": 1, "subject": {}, "stream": {}, "seed": 0, "replicates": 1, "lane_size": 1}
        cells = [Cell(fanout=name, work=Work(), **of) for name in ("retrain", "crossval")]
        pool.prepare(Plan(study="s", kind="k", cells=cells, analyses=(), alpha=0.05, adjust="holm"))
        end = time.monotonic() + 120
        while not all(worker["loaded"] for worker in pool.client.run(look).values()) and time.monotonic() < end:
            time.sleep(0.1)
        print(json.dumps([before, list(pool.client.run(look).values())]))
    assert dict(os.environ) == variables
"""


def asked(folder, **more):
    (folder / "asking.py").write_text(CODE)
    done = python(folder / "asking.py", env={**environment(), **more}, check=True)
    assert done.stderr == ""
    return json.loads(done.stdout)


@pytest.mark.long
def test_workers_watch_themselves_less_and_load_what_is_needed(tmp_path):
    before, after = asked(tmp_path)
    told = {
        "worker.profile.enabled": False,
        "admin.tick.interval": "1s",
        "scheduler.worker-saturation": 1.0,
        "worker.memory.pause": False,
    }
    assert before == [{**told, "loaded": False}] * 2
    assert after == [{**told, "loaded": True}] * 2


@pytest.mark.faults  # the other start of a cluster here stands for it in `make test`
def test_what_a_person_has_set_in_dask_stays_but_for_one_block_a_worker(tmp_path):
    (tmp_path / "dask.yaml").write_text(
        "distributed:\n  worker: {profile: {enabled: true}}\n  scheduler: {worker-saturation: 2}\n"
    )
    more = {"DASK_CONFIG": str(tmp_path), "DASK_DISTRIBUTED__ADMIN__TICK__INTERVAL": "50ms"}
    before, _ = asked(tmp_path, **more)
    assert {worker["worker.profile.enabled"] for worker in before} == {True}
    assert {worker["admin.tick.interval"] for worker in before} == {"50ms"}
    assert {worker["scheduler.worker-saturation"] for worker in before} == {1.0}


OTHER_CODE = """
import logging, queue
from distributed import LocalCluster
from sigstats.flows import clusters
from sigstats.flows.clusters.address import Cluster
from sigstats.flows.running.workers import StaffWatch
from sigstats.tasks.plan import Block, Cell
from sigstats.tasks.significance import Evaluated
from sigstats.tasks.storage.store import Store

def levels():
    names = "distributed", "distributed.worker", "distributed.client", "tornado.application", "asyncio"
    return [logging.getLogger(name).level for name in names]

def change(other):
    from distributed import get_worker
    from sigstats.tasks.engine import dask_staff
    dask_staff.run_guarded = lambda *_, **__: get_worker().address
    if other:
        dask_staff.version = lambda: "9.9, code of another"

if __name__ == "__main__":
    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as started:
        before, said = levels(), []
        with clusters.open_pool(Cluster(address=started.scheduler_address)) as pool:
            watch = StaffWatch(pool, said.append)
            watch.look()
            (first,) = pool.staff
            started.scale(2)
            pool.client.wait_for_workers(2)
            (joined,) = set(pool.client.nthreads()) - {first}
            pool.client.run(change, False, workers=[first])
            pool.client.run(change, True, workers=[joined])
            told = f"note: worker {joined} has different code (sigstats 9.9, code of another) and gets no work"
            work = Evaluated(test="sizes", data={}, method="exact")
            many = {"work": work, "stream": {}, "seed": 1, "replicates": 9, "lane_size": 1}
            cell, by = Cell(fanout="evaluate", version=1, subject={"dataset": "iris"}, **many), queue.SimpleQueue()
            for asked in (False, True):  # before the worker that joined was asked for its version, and then
                if asked:
                    watch.look()
                for lane in range(4 * asked, 4 * asked + 4):
                    block = Block(cell=cell, first_lane=lane, last_lane=lane + 1)
                    pool.submit(block, Store("memory://x"), by.put)
                print({by.get(timeout=60) for _ in range(4)} == {first})
            print(said == [told], pool.staff == {first})
        print(levels() == before)
"""


@pytest.mark.long
def test_a_worker_of_other_code_that_joins_computes_nothing_and_loggers_are_as_before(tmp_path):
    (tmp_path / "joining.py").write_text(OTHER_CODE)
    done = python(tmp_path / "joining.py")
    assert done.stdout.split() == ["True"] * 5, done.stderr
