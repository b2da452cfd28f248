"""A client or a cluster of Dask that the caller has is used and left as it was, also from within its own tasks."""

import dask
import pytest
from distributed import Client, LocalCluster, span
from distributed.diagnostics.plugin import SchedulerPlugin

import sigstats

pytestmark = pytest.mark.processes

STUDY = {
    "kind": "benchmark",
    "name": "small",
    "datasets": ["iris"],
    "classifiers": ["lda", "1-nn"],
    "cross_validation": {"folds": 3},
    "permutation": {"resamples": 99},
}


def stored(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*.parquet"))
        if path.parts[-1] != "plan.parquet"
    }


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reference")
    sigstats.run_study(STUDY, output=folder, cluster="serial")
    return stored(folder)


#: A cluster of one worker in this process.
ONE = {
    "n_workers": 1,
    "threads_per_worker": 1,
    "processes": False,
    "protocol": "tcp://",
    "dashboard_address": "127.0.0.1:0",
}


@pytest.fixture(scope="module")
def cluster():
    """Two workers of one thread, in this process, as tasks of a `DaskTaskRunner` have them."""
    with LocalCluster(**{**ONE, "n_workers": 2}) as made:
        yield made


@pytest.mark.long
@pytest.mark.parametrize("how", ["client", "cluster"])
def test_a_client_or_a_cluster_is_used_and_left_as_it_was(how, cluster, reference, tmp_path):
    with Client(cluster, set_as_default=False) as client:
        before = client.scheduler_info()["id"], cluster.status, sorted(client.nthreads()), dict(dask.config.config)
        run = sigstats.run_study(STUDY, output=tmp_path, cluster=client if how == "client" else cluster)
        assert stored(tmp_path) == reference
        assert run.summary["decision"].tolist()
        after = client.scheduler_info()["id"], cluster.status, sorted(client.nthreads()), dict(dask.config.config)
        assert after == before
        assert not client.futures
        assert client.submit(sum, [1, 2]).result() == 3


@pytest.mark.long
def test_the_threads_of_a_worker_share_a_process(reference, tmp_path):
    with LocalCluster(**{**ONE, "threads_per_worker": 4}) as made:
        sigstats.run_study(STUDY, output=tmp_path, cluster=made)
    assert stored(tmp_path) == reference


def a_study(folder, address):
    sigstats.run_study(STUDY, output=folder, cluster=address)
    return "done"


def a_study_of_its_worker(folder):
    from distributed import get_client

    return a_study(folder, get_client())


@pytest.mark.long
@pytest.mark.parametrize("how", ["address", "client"])
def test_two_studies_in_tasks_of_two_workers_of_one_thread_end(how, cluster, reference, tmp_path):
    folders = [tmp_path / name for name in ("a", "b")]
    with Client(cluster, set_as_default=False) as client:
        if how == "address":
            tasks = [client.submit(a_study, folder, cluster.scheduler_address) for folder in folders]
        else:
            tasks = [client.submit(a_study_of_its_worker, folder) for folder in folders]
        assert client.gather(tasks) == ["done", "done"]
    assert [stored(folder) for folder in folders] == [reference, reference]


@pytest.mark.long
def test_tasks_say_what_they_do_and_keep_the_annotations_of_the_caller(cluster, tmp_path):
    scheduler = cluster.scheduler
    seen = {}

    class Watch(SchedulerPlugin):
        def transition(self, key, start, finish, *_, **__):
            task = scheduler.tasks.get(key)
            if task is not None and finish == "processing":
                seen[key] = (task.prefix.name, task.group.name, dict(task.annotations or {}), task.priority)

    scheduler.add_plugin(Watch(), name="seen")
    try:
        with span("mine"), dask.annotate(team="blue"):
            sigstats.run_study(STUDY, output=tmp_path, cluster=cluster, priority=7)
    finally:
        scheduler.remove_plugin("seen")
    assert {prefix for prefix, *_ in seen.values()} == {"crossval", "retrain"}
    assert {group.rpartition("-")[2] for _, group, *_ in seen.values()} == {"iris"}
    assert {annotations["team"] for _, _, annotations, _ in seen.values()} == {"blue"}
    assert {annotations["span"]["name"] for _, _, annotations, _ in seen.values()} == {("mine", "small")}
    assert len({annotations["span"]["ids"] for _, _, annotations, _ in seen.values()}) == 1
    # Dask negates the priority of a user; an integer goes before what orders the blocks of one study.
    assert {-priority[0] for *_, priority in seen.values()} <= {7, 6.75, 6.5, 6.25}


@pytest.mark.long
def test_what_is_no_cluster_is_refused_in_one_line(cluster, tmp_path):
    with pytest.raises(ValueError, match=r"cluster: 3 is not valid; expected the name of a kind, an address"):
        sigstats.run_study(STUDY, output=tmp_path, cluster=3)
    with pytest.raises(ValueError, match=r"workers: 2 is not valid, since the cluster has its own workers"):
        sigstats.run_study(STUDY, output=tmp_path, cluster=cluster, workers=2)
    with Client(cluster, set_as_default=False) as client:
        pass
    with pytest.raises(ValueError, match=r"is closed; give a running client or cluster"):
        sigstats.run_study(STUDY, output=tmp_path, cluster=client)
    assert not list(tmp_path.iterdir())
