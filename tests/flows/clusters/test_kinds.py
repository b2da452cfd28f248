"""What a cluster file may say, what a batch system and Kubernetes are told, and what is said where they are missing."""

import asyncio
import importlib.resources
import os
import stat
import subprocess
import sys
from functools import cache
from types import SimpleNamespace

import dask
import jsonschema
import pytest
import yaml
from distributed import LocalCluster

from sigstats.flows import clusters
from sigstats.flows.clusters import kubernetes, load_cluster
from sigstats.flows.clusters._engine import settings
from sigstats.flows.clusters.batch import _dask_jobqueue, _has_ended, batch_cluster
from sigstats.flows.errors import BadInput

from ...faults.conftest import Folder, results, run
from .stand_ins import stand_ins

BATCH = {"slurm": "sbatch", "pbs": "qsub", "sge": "qsub", "lsf": "bsub"}


def loaded(tmp_path, text):
    path = tmp_path / "cluster.toml"
    path.write_text(text)
    return load_cluster(str(path))


def test_the_ready_files_are_valid(repository):
    files = sorted((repository / "configs" / "clusters").glob("*.toml"))
    kinds = {load_cluster(str(file)).kind for file in files}
    assert kinds >= {"local", "address", "slurm", "kubernetes"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('kind = "slurm"', "workers: is missing"),
        ('kind = "slurm"\nworkers = 0', "workers"),
        (
            'kind = "slurm"\nworkers = { minimum = 3, maximum = 2 }',
            "minimum: 3 is not valid; expected at most maximum, 2",
        ),
        ('kind = "slurm"\nworkers = 2\nqueue = "a\\n#SBATCH --wrap=x"', "queue"),
        ('kind = "pbs"\nworkers = 2\ndirectives = ["-l x; rm y"]', "directives"),
        ('kind = "lsf"\nworkers = 2\nlog_folder = "$(id)"', "log_folder"),
        ('kind = "slurm"\nworkers = 2\nmodules = ["python"]', "modules"),
        ('kind = "kubernetes"\nworkers = 2', "image: is missing"),
        ('kind = "kubernetes"\nworkers = 2\nimage = "a"\nmemory = "2 GiB"', "memory"),
        (
            'kind = "local"\nmemory_limit = "1.2.3 GiB"',
            "'1.2.3 GiB' is not valid; expected an amount with its unit, as in",
        ),
        ('kind = "local"\nmemory_limit = "0 B"', "memory_limit: '0 B' is not valid; expected a byte or more"),
        ('kind = "slurm"\nworkers = 2\nmemory = "0.0 GiB"', "memory: '0.0 GiB' is not valid; expected a byte or more"),
        ('kind = "local"\nworkers = { maximum = 4, least = 1 }', "least"),
        ('kind = "slrum"\nworkers = 2', "kind: 'slrum' is not valid"),
    ],
)
def test_bad_cluster_files_are_refused_in_one_line(tmp_path, text, said):
    with pytest.raises(BadInput) as error:
        loaded(tmp_path, text)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_certificates_of_dasks_own_configuration_that_are_not_there_are_one_line(tmp_path):
    import distributed  # noqa: F401  (its defaults, which are to stay)

    gone = str(tmp_path / "gone.pem")
    own = dask.config.set({"distributed.comm.tls.ca-file": gone, "distributed.comm.tls.client.cert": gone})
    with own, pytest.raises(BadInput) as error, clusters.open_pool(load_cluster("tls://127.0.0.1:9")):
        pass
    assert "address: 'tls://127.0.0.1:9' is not valid; the certificates of Dask's own" in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.long
def test_a_scheduler_whose_workers_come_later_gets_as_many_cells_as_they_will_want(tmp_path):
    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address="127.0.0.1:0") as running:
        text = f'kind = "address"\naddress = "{running.scheduler_address}"\n'
        for more, cells in (("", 2), ("expected = 50", 100)):
            (tmp_path / "cluster.toml").write_text(text + more)
            cluster = load_cluster(str(tmp_path / "cluster.toml"))
            with clusters.open_pool(cluster) as pool:
                assert pool.cells == cells
                assert len(pool.staff) == 1


@pytest.mark.parametrize("kind", BATCH)
def test_a_batch_system_that_is_not_there_is_named(tmp_path, monkeypatch, kind):
    monkeypatch.setenv("PATH", str(tmp_path))
    cluster = loaded(tmp_path, f'kind = "{kind}"\nworkers = 2')
    with pytest.raises(BadInput, match=rf"^cluster: {BATCH[kind]} is not on the PATH; expected a machine from which"):
        batch_cluster(cluster, None)


@pytest.fixture
def commands(tmp_path, monkeypatch):
    """Stand-ins for the commands of the batch systems on the PATH; that of PBS starts the job it is given."""
    monkeypatch.setenv("PATH", f"{stand_ins(tmp_path)}:{os.environ['PATH']}")
    return tmp_path


@pytest.mark.parametrize(
    ("kind", "lines"),
    [
        ("pbs", ["#PBS -N sigstats", "#PBS -q long", "#PBS -A stats", "#PBS -l walltime=00:30:00", "#PBS -l x=1"]),
        ("sge", ["#$ -N sigstats", "#$ -q long", "#$ -P stats", "#$ -l h_rt=00:30:00", "#$ -l x=1"]),
        ("lsf", ["#BSUB -J sigstats", "#BSUB -q long", '#BSUB -P "stats"', "#BSUB -W 00:30", "#BSUB -l x=1"]),
    ],
)
def test_the_job_script_says_what_the_file_says(commands, kind, lines):
    walltime = "00:30" if kind == "lsf" else "00:30:00"
    text = (
        f'kind = "{kind}"\nworkers = 8\nprocesses = 4\nmemory = "1 GiB"\nqueue = "long"\naccount = "stats"\n'
        f'walltime = "{walltime}"\ndirectives = ["-l x=1"]'
    )
    _dask_jobqueue()  # or its defaults would go with what is set here
    own = {"job-script-prologue": ["module load python"], "worker-extra-args": ["--own"]}
    before = {f"jobqueue.{kind}.{key}": value for key, value in own.items()}
    with dask.config.set(settings() | before), batch_cluster(loaded(commands, text), None) as cluster:
        script = cluster.job_script()
    assert [line for line in [*lines, "module load python"] if line not in script.splitlines()] == []
    told = subprocess.run(
        ["sh", "-c", "\n".join(line for line in script.splitlines() if line.startswith("export ")) + "\nenv"],
        env={"DASK_DISTRIBUTED__ADMIN__TICK__INTERVAL": "50ms"},  # what the job has already stays
        capture_output=True,
        text=True,
        check=True,
    )
    seen = dict(line.split("=", 1) for line in told.stdout.splitlines())
    assert seen["DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED"] == "False"
    assert seen["DASK_DISTRIBUTED__ADMIN__TICK__INTERVAL"] == "50ms"
    (worker,) = [line for line in script.splitlines() if "dask_worker" in line]
    for option in (
        "--nthreads 1",
        "--nworkers 4",
        "--memory-limit 1.00GiB",
        "--death-timeout 60",
        "--own",
        "--worker-class sigstats.tasks.engine.nodes.Worker",
    ):
        assert option in worker


@pytest.mark.parametrize(
    ("kind", "command", "said", "code", "gone"),
    [
        ("slurm", "squeue", ["PENDING"], 0, False),
        ("slurm", "squeue", [""], 0, True),
        ("slurm", "squeue", ["slurm_load_jobs error: Invalid job id specified"], 1, True),
        ("slurm", "squeue", ["slurm_load_jobs error: Unable to contact slurm controller (connect failure)"], 1, False),
        ("pbs", "qstat", ["12.server sigstats me 0 Q long"], 0, False),
        ("pbs", "qstat", ["qstat: Unknown Job Id 12.server"], 153, True),
        (
            "pbs",
            "qstat",
            ["qstat: 12.server Job has finished, use -x or -H to obtain historical job information"],
            35,
            True,
        ),
        ("sge", "qstat", ["job_number: 12"], 0, False),
        ("sge", "qstat", ["Following jobs do not exist: ", "12"], 1, True),
        ("lsf", "bjobs", ["PEND"], 0, False),
        ("lsf", "bjobs", ["EXIT"], 0, True),
        ("lsf", "bjobs", ["Job <12> is not found"], 255, True),
        ("lsf", "nothing", [], 0, False),
    ],
)
def test_a_job_is_given_up_where_the_batch_system_no_longer_knows_it(commands, kind, command, said, code, gone):
    place = commands / "bin" / command
    lines = [f'echo "{line}" {">&2" if code else ""}' for line in said]
    place.write_text(
        "\n".join(["#!/bin/sh", 'case "$*" in *12) ;; *) echo "$*" >&2; exit 9;; esac', *lines, f"exit {code}", ""])
    )
    place.chmod(0o755)
    assert asyncio.run(_has_ended(kind, SimpleNamespace(job_id="12"))) is gone


@pytest.mark.processes
@pytest.mark.faults
def test_a_study_runs_as_jobs_of_pbs(many, tmp_path, commands):
    path, reference = many
    (tmp_path / "cluster.toml").write_text(
        f'kind = "pbs"\nworkers = 2\nmemory = "500 MiB"\nshared_folder = "{tmp_path}"\n'
    )
    place = Folder(tmp_path / "out")
    done = run("run", path, "--cluster", tmp_path / "cluster.toml", place=place)
    assert done.returncode == 0, done.stderr
    assert results(place) == reference
    assert len((tmp_path / "submitted").read_text().split()) == len((tmp_path / "deleted").read_text().split()) == 2


def schema(kind):
    """The operator's own schema of a custom resource, which forbids fields that it does not know."""
    folder = importlib.resources.files("dask_kubernetes") / "operator/deployment/helm/dask-kubernetes-operator/crds"
    definition = yaml.safe_load((folder / f"{kind}.yaml").read_text())
    (version,) = definition["spec"]["versions"]
    assert (definition["spec"]["group"], version["name"]) == ("kubernetes.dask.org", "v1")
    return definition["spec"]["names"]["kind"], strict(version["schema"]["openAPIV3Schema"])


def strict(node):
    """Fields that are not in a schema are dropped by Kubernetes without a word; here they are an error."""
    if isinstance(node, list):
        return [strict(part) for part in node]
    if not isinstance(node, dict):
        return node
    node = {key: strict(part) for key, part in node.items()}
    closed = isinstance(node.get("properties"), dict) and not node.get("x-kubernetes-preserve-unknown-fields")
    if closed and "additionalProperties" not in node:
        node["additionalProperties"] = False
    return node


@cache
def told(given):
    """What Dask takes from these variables of the environment."""
    asked = "scheduler.worker-saturation", "worker.profile.enabled", "worker.memory.pause", "admin.tick.interval"
    code = f"import dask, distributed; print([dask.config.get(f'distributed.{{key}}') for key in {asked}])"
    seen = [sys.executable, "-c", code]
    return subprocess.run(seen, env={**os.environ, **dict(given)}, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize(
    "more",
    [
        "workers = 4",
        """\
workers = { minimum = 0, maximum = 9 }
secret = "keys"
service_account = "runner"
pull_secret = "registry"
node_selector = { disk = "ssd" }
namespace = "stats"
""",
    ],
)
@pytest.mark.long
def test_the_resource_fits_the_operators_schema(tmp_path, more):
    cluster = loaded(tmp_path, f'kind = "kubernetes"\nimage = "registry.example.org/sigstats:0.1"\n{more}')
    made = kubernetes.manifest(cluster, "sigstats-0")
    kind, rules = schema("daskcluster")
    rules["properties"] |= {"apiVersion": {}, "kind": {"const": kind}, "metadata": {}}
    jsonschema.validate(made, rules)
    assert made["spec"]["idleTimeout"] == 600  # after which the operator takes back what a killed run left
    for part in ("scheduler", "worker"):
        pod = made["spec"][part]["spec"]
        assert pod["securityContext"]["runAsNonRoot"]
        assert not pod["containers"][0]["securityContext"]["allowPrivilegeEscalation"]
        assert pod["automountServiceAccountToken"] == ("service_account" in more)
        given = {entry["name"]: entry["value"] for entry in pod["containers"][0]["env"]}
        assert (
            told(frozenset(item for item in given.items() if item[0].startswith("DASK_")))
            == "[1.0, False, False, '1s']\n"
        )
    # The check can fail: a misspelt field does.
    made["spec"]["worker"]["spec"]["containers"][0]["imagePull"] = "Always"
    with pytest.raises(jsonschema.ValidationError, match="imagePull"):
        jsonschema.validate(made, rules)


@pytest.mark.parametrize("server", [None, "http://127.0.0.1:9"])
def test_where_no_kubernetes_answers_one_line_says_so(tmp_path, monkeypatch, server):
    configuration = tmp_path / "config"
    if server:
        configuration.write_text(
            yaml.safe_dump(
                {
                    "apiVersion": "v1",
                    "kind": "Config",
                    "clusters": [{"name": "a", "cluster": {"server": server}}],
                    "users": [{"name": "a", "user": {"token": "none"}}],
                    "contexts": [{"name": "a", "context": {"cluster": "a", "user": "a"}}],
                    "current-context": "a",
                }
            )
        )
    monkeypatch.setenv("KUBECONFIG", str(configuration))
    cluster = loaded(tmp_path, 'kind = "kubernetes"\nimage = "sigstats"\nworkers = 2')
    with (
        pytest.raises(BadInput, match=r"^cluster: Kubernetes does not start a scheduler \("),
        clusters.open_pool(cluster),
    ):
        pass


def test_keys_of_a_run_are_its_users_alone(tmp_path):
    from sigstats.flows.clusters._engine import shared_certificates

    cluster = loaded(tmp_path, f'kind = "slurm"\nworkers = 1\nshared_folder = "{tmp_path}"')
    with shared_certificates(cluster.shared_folder) as security:
        (folder,) = tmp_path.glob(".sigstats-tls-*")
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert {stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()} == {0o600}
        assert security.require_encryption
    assert not folder.exists()
