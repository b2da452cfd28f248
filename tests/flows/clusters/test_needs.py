"""What a classifier needs of a worker: where it is found, and what is said where no worker will have it."""

import dask
import pytest
from distributed import LocalCluster

from sigstats.flows import clusters
from sigstats.flows.clusters import address, load_cluster, local
from sigstats.flows.clusters._dask import settings
from sigstats.flows.clusters.by_class import class_of, started_cluster, with_needs
from sigstats.flows.errors import BadInput
from sigstats.tasks.engine.pools import RoutedPool, Serial
from sigstats.tasks.fan_out import cell_of
from sigstats.tasks.plan import Needs, needs_of

from ...cells import retrained
from .test_kinds import commands, loaded

NET = Needs(memory=8 << 30, threads=4, gpu=1, who="classifier net")
__all__ = ["commands"]


def own(name, **limits):
    """A cell of a classifier with limits."""
    subject, work = {"dataset": "d", "classifier": name}, retrained(learner=name)
    return cell_of("retrain", subject=subject, work=work, seed=1, replicates=10, limits=limits or None)


def test_the_needs_of_a_plan_are_each_there_once():
    cells = [own("lda"), own("slow", time_limit=3.0), own("net", threads=4, gpu=1), own("other", gpu=1, threads=4)]
    assert needs_of(cells) == (Needs(threads=4, gpu=1),)
    assert needs_of(cells)[0].who == "classifier net"
    assert Needs.of(cells[0]).amounts == Needs.of(cells[1]).amounts == {}


@pytest.mark.parametrize("kind", ["serial", "local"])
@pytest.mark.parametrize(
    ("needs", "said"),
    [
        (Needs(threads=10_000, who="classifier net"), r"resources\.threads: 10000 .* the processors of this machine"),
        (
            Needs(memory=1 << 60, who="classifier net"),
            r"resources\.memory: 1\.07e\+09 GiB .* the memory of this machine",
        ),
        (Needs(gpu=3, who="classifier net"), r"resources\.gpu: 3 .* at most 2, the gpus of the cluster file"),
    ],
)
def test_a_machine_that_has_less_is_refused_before_anything_starts(tmp_path, kind, needs, said):
    cluster = loaded(tmp_path, f'kind = "{kind}"\ngpus = 2')
    with pytest.raises(BadInput, match=f"^classifier net: {said}$"), clusters.open_pool(cluster, (needs,)):
        pass


def test_gpus_are_divided_among_the_workers_and_every_need_is_met():
    one, two = Needs(gpu=1), Needs(gpu=2, threads=2)
    made = local.worker_options([one, two], {one: 3, two: 1}, gpus=3)
    assert [role["resources"] for role in made] == [{"threads": 2, "gpu": 2}, {"gpu": 1}, {}]
    devices = [role["env"]["CUDA_VISIBLE_DEVICES"] for role in made if "env" in role]
    assert devices == ["0,1", "2"]
    assert local.worker_options([], {}, gpus=3) == []


def test_a_new_worker_takes_over_what_an_ended_one_had():
    class Fake:
        worker_spec, _number = {}, -1

        def new_worker_spec(self):
            self._number += 1
            return {self._number: {"cls": "Nanny", "options": {"nthreads": 1}}}

        def grow(self):
            self.worker_spec |= (made := self.new_worker_spec())
            return next(iter(made.values()))["options"].get("resources")

    cluster = local.with_worker_options(Fake, [{"resources": {"gpu": 1}}])()
    assert [cluster.grow(), cluster.grow()] == [{"gpu": 1}, None]
    del cluster.worker_spec[0]
    assert [cluster.grow(), cluster.grow()] == [{"gpu": 1}, None]


@pytest.mark.parametrize(
    ("system", "lines"),
    [
        ("SLURM", ["#SBATCH --cpus-per-task=4", "#SBATCH --mem=10G", "#SBATCH --gres=gpu:1"]),
        ("PBS", ["#PBS -l select=1:ncpus=4:mem=10GB", "#PBS -l ngpus=1"]),
        ("LSF", ["#BSUB -n 4", "#BSUB -gpu num=1"]),
    ],
)
def test_a_job_of_its_own_asks_the_batch_system_for_it(commands, repository, system, lines):
    cluster = load_cluster(str(repository / "configs" / "clusters" / f"{system.lower()}.toml"))
    class_of(cluster.class_)
    with dask.config.set(settings()), started_cluster(cluster, with_needs(cluster, NET), alone=True) as started:
        script = started.job_script()
    written = [line.strip() for line in script.splitlines()]
    assert [line for line in lines if line not in written] == []
    (command,) = (line for line in written if "distributed.cli.dask_worker" in line)
    assert command.rpartition("--nthreads ")[2].split()[0] == "1"
    assert "--nworkers 1 " in command or "--nworkers" not in command


def test_a_need_that_the_file_does_not_state_is_refused(tmp_path):
    text = 'class = "dask_jobqueue.SGECluster"\nworkers = 2\n[needs]\n'
    cluster = loaded(tmp_path, text + 'memory = { memory = "{amount}" }\nthreads = { cores = "{amount}" }')
    said = r"^classifier net: resources: no worker has .*gpu = 1; add \[needs\.gpu\] to the cluster file$"
    with pytest.raises(BadInput, match=said), clusters.open_pool(cluster, [NET]):
        pass


def test_needs_add_to_the_lists_of_the_file_and_replace_its_other_arguments(tmp_path):
    text = """
class = "dask_jobqueue.SLURMCluster"
workers = 2
cores = 8
job_extra_directives = ["--exclusive"]
env = { A = "1" }
[needs.threads]
cores = "{amount}"
env = { OMP_NUM_THREADS = "{amount} or so" }
[needs.gpu]
job_extra_directives = ["--gres=gpu:{amount}"]
"""
    assert with_needs(loaded(tmp_path, text), Needs(threads=4, gpu=2)) == {
        "cores": 4,
        "job_extra_directives": ["--exclusive", "--gres=gpu:2"],
        "env": {"OMP_NUM_THREADS": "4 or so"},
    }


def test_blocks_go_to_the_pool_of_their_needs():
    class Noting(Serial):
        def __init__(self):
            super().__init__()
            self.given = []

        def submit(self, block, store, done):
            self.given.append(block.cell.subject["classifier"])
            return lambda: None

    common, special = Noting(), Noting()
    pool = RoutedPool(common, {Needs(gpu=1): special})
    for one in (own("lda"), own("net", gpu=1), own("timed", time_limit=1.0)):
        pool.submit(one.block(0, 1), None, print)
    assert (common.given, special.given) == (["lda", "timed"], ["net"])
    assert (pool.workers, pool.cells, pool.idle) == (2, 2, False)
    assert pool.staff == {"this process"}


@pytest.fixture(scope="module")
def running():
    """A scheduler at an address whose one worker declares resources."""
    options = {
        "dashboard_address": "127.0.0.1:0",
        "resources": {"gpu": 1, "threads": 2},
        "processes": False,
        "protocol": "tcp://",
    }
    with LocalCluster(n_workers=1, threads_per_worker=1, **options) as cluster:
        yield load_cluster(cluster.scheduler_address)


@pytest.mark.long
@pytest.mark.parametrize(
    ("needs", "said"),
    [
        (Needs(gpu=2, who="classifier net"), r"classifier net: resources\.gpu: 2 .* at most 1, which a worker"),
        (NET, r"classifier net: resources\.threads: 4 .* at most 2, which a worker declares"),
    ],
)
def test_at_an_address_a_resource_that_nobody_declares_is_refused(running, needs, said):
    with pytest.raises(BadInput, match=said), clusters.open_pool(running, (needs,)):
        pass


@pytest.mark.long
def test_at_an_address_a_declared_resource_is_asked_for(running):
    needs = Needs(gpu=1, threads=2, memory=1 << 30)
    with clusters.open_pool(running, (needs,)) as pool:
        assert pool.asks == {"gpu", "threads"}


def test_workers_of_another_version_are_refused(running):
    said = r"^cluster: the worker at .* has sigstats \S+, code \w+; install sigstats 9\.9"
    with clusters.open_pool(running) as pool, pytest.raises(BadInput, match=said):
        address.require_version(pool.client, "9.9")
