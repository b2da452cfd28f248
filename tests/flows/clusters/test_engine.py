"""What the workers of a cluster are told of Dask's settings, and what they load before their first block."""

import json
import subprocess
import sys

import pytest

from ..conftest import environment

pytestmark = pytest.mark.processes

CODE = """
import json, os, sys, time
from sigstats.flows.clusters.local import Cluster, open_pool
from sigstats.tasks.plan import Cell, Plan

def look():
    import dask, os, sys
    keys = "worker.profile.enabled", "admin.tick.interval", "scheduler.worker-saturation", "worker.memory.pause"
    kept = {name: value for name, value in os.environ.items() if name.startswith("MALLOC")}
    loaded = "sigstats.tasks.replicates.retrain" in sys.modules
    return {**{key: dask.config.get(f"distributed.{key}") for key in keys}, **kept, "loaded": loaded}

if __name__ == "__main__":
    with open_pool(Cluster(workers=2)) as pool:
        before = list(pool.client.run(look).values())
        of = {"version": 1, "subject": {}, "stream": {}, "seed": 0, "replicates": 1, "lane_size": 1}
        cells = [Cell(fanout=name, work={"n": name}, **of) for name in ("retrain", "crossval")]
        pool.prepare(Plan(study="s", kind="k", cells=cells, analyses=(), alpha=0.05, adjust="holm"))
        end = time.monotonic() + 120
        while not all(worker["loaded"] for worker in pool.client.run(look).values()) and time.monotonic() < end:
            time.sleep(0.1)
        print(json.dumps([before, list(pool.client.run(look).values())]))
"""


def asked(folder, **more):
    (folder / "asking.py").write_text(CODE)
    done = subprocess.run(
        [sys.executable, folder / "asking.py"],
        capture_output=True,
        text=True,
        env={**environment(), **more},
        timeout=300,
        check=True,
    )
    assert done.stderr == ""
    return json.loads(done.stdout)


def test_workers_watch_themselves_less_and_keep_freed_memory_and_load_what_is_needed(tmp_path):
    before, after = asked(tmp_path)
    told = {
        "worker.profile.enabled": False,
        "admin.tick.interval": "1s",
        "scheduler.worker-saturation": 1.0,
        "worker.memory.pause": False,
        "MALLOC_TRIM_THRESHOLD_": str(64 << 20),
        "MALLOC_MMAP_THRESHOLD_": str(32 << 20),
    }
    assert before == [{**told, "loaded": False}] * 2
    assert after == [{**told, "loaded": True}] * 2


@pytest.mark.faults  # the other start of a cluster here stands for it in `make test`
def test_what_a_person_has_set_in_dask_stays_but_for_one_block_a_worker(tmp_path):
    (tmp_path / "dask.yaml").write_text(
        "distributed:\n  worker: {profile: {enabled: true}}\n  scheduler: {worker-saturation: 2}\n"
        "  nanny: {pre-spawn-environ: {MALLOC_TRIM_THRESHOLD_: 4096}}\n"
    )
    more = {"DASK_CONFIG": str(tmp_path), "DASK_DISTRIBUTED__ADMIN__TICK__INTERVAL": "50ms"}
    before, _ = asked(tmp_path, **more)
    assert {worker["worker.profile.enabled"] for worker in before} == {True}
    assert {worker["admin.tick.interval"] for worker in before} == {"50ms"}
    assert {worker["MALLOC_TRIM_THRESHOLD_"] for worker in before} == {"4096"}
    assert {worker["scheduler.worker-saturation"] for worker in before} == {1.0}
