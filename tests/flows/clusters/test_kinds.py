"""What a cluster file may say, what a batch system and Kubernetes are told, and what is said where they are missing."""

import gc
import importlib.resources
import inspect
import os
import stat
import subprocess
import sys
from functools import cache
from pathlib import Path

import dask
import jsonschema
import pytest
import yaml
from distributed import LocalCluster

from sigstats.flows import clusters
from sigstats.flows.clusters import load_cluster
from sigstats.flows.clusters._dask import settings
from sigstats.flows.clusters.by_class import class_of, for_pods, started_cluster
from sigstats.flows.errors import BadInput

from ...faults.conftest import Folder, complete
from .stand_ins import stand_ins

BATCH = {"SLURM": "sbatch", "PBS": "qsub", "SGE": "qsub", "LSF": "bsub"}
KUBERNETES = "dask_kubernetes.operator.KubeCluster"
OF_SLURM = 'class = "dask_jobqueue.SLURMCluster"'


def loaded(tmp_path, text):
    path = tmp_path / "cluster.toml"
    path.write_text(text)
    return load_cluster(str(path))


def test_the_ready_files_are_valid(repository):
    files = sorted((repository / "configs" / "clusters").glob("*.toml"))
    loaded = [load_cluster(str(file)) for file in files]
    assert {cluster.kind for cluster in loaded} == {"local", "address", "dask"}
    classes = {cluster.class_ for cluster in loaded if cluster.kind == "dask"}
    assert classes == {f"dask_jobqueue.{system}Cluster" for system in BATCH} | {KUBERNETES}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (OF_SLURM, "workers: is missing"),
        (f"{OF_SLURM}\nworkers = 0", "workers"),
        (
            f"{OF_SLURM}\nworkers = {{ minimum = 3, maximum = 2 }}",
            "minimum: 3 is not valid; expected at most maximum, 2",
        ),
        ('kind = "dask"\nworkers = 2', "class: is missing"),
        ('class = "SLURMCluster"\nworkers = 2', "class: 'SLURMCluster' is not valid"),
        (f"{OF_SLURM}\nworkers = 2\nneeds = {{ gpus = {{}} }}", "needs"),
        (
            'class = "os.system"\nworkers = 2',
            "class: 'os.system' is not valid; expected a class from dask_cloudprovider, dask_gateway, dask_jobqueue, ",
        ),
        ('class = "os.system"\nworkers = 2\nallow = ["os"]', "or --allow os"),
        (
            'kind = "local"\nmemory_limit = "1.2.3 GiB"',
            "'1.2.3 GiB' is not valid; expected an amount with its unit, as in",
        ),
        ('kind = "local"\nmemory_limit = "0 B"', "memory_limit: '0 B' is not valid; expected a byte or more"),
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


@pytest.mark.parametrize("system", BATCH)
def test_a_batch_system_that_is_not_there_is_named(tmp_path, monkeypatch, system):
    monkeypatch.setenv("PATH", str(tmp_path))
    cluster = loaded(tmp_path, f'class = "dask_jobqueue.{system}Cluster"\nworkers = 2')
    with (
        pytest.raises(BadInput, match=rf"^cluster: {BATCH[system]} is not on the PATH; run sigstats on a machine"),
        clusters.open_pool(cluster),
    ):
        pass


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("dask_jobqueue.SLURMClutser", r"expected a class of clusters \(did you mean 'SLURMCluster'\?\)$"),
        ("dask_jobqueue.core.Job", "expected a class of clusters$"),
        ("distributed.nothing.Cluster", "No module named 'distributed.nothing'$"),
        ("dask_cloudprovider.aws.EC2Cluster", "run pip install dask-cloudprovider$"),
    ],
)
def test_a_class_that_does_not_exist_is_refused(tmp_path, text, said):
    cluster = loaded(tmp_path, f'class = "{text}"\nworkers = 2')
    with pytest.raises(BadInput, match=rf"^cluster: class: '{text}' is not valid; {said}"), clusters.open_pool(cluster):
        pass


def test_a_missing_package_is_named_with_the_extra_that_installs_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "dask_jobqueue", None)
    cluster = loaded(tmp_path, f"{OF_SLURM}\nworkers = 2")
    with pytest.raises(BadInput, match=r"run pip install 'sigstats\[jobqueue\]'$"), clusters.open_pool(cluster):
        pass


def test_a_package_that_the_person_allows_may_bring_the_class(tmp_path):
    path = tmp_path / "cluster.toml"
    path.write_text('class = "mysite.Cluster"\nworkers = 2')
    with pytest.raises(BadInput, match=r"or --allow mysite$"):
        load_cluster(str(path))
    assert load_cluster(str(path), None, ["mysite"]).class_ == "mysite.Cluster"


@pytest.mark.filterwarnings("ignore:unclosed cluster")  # by dask-jobqueue, which does not close what it refuses
@pytest.mark.parametrize(
    ("argument", "said"),
    [
        ('queu = "long"', "queu is not an argument of this class"),
        (
            'job_script_prologue = "module load python"',
            "job_script_prologue: 'module load python' is not valid; expected a list",
        ),
        ('shared_temp_directory = "/nowhere"', r"\[Errno 2\] No such file or directory: '/nowhere/\S*'"),
    ],
)
def test_a_wrong_argument_is_named(commands, argument, said):
    cluster = loaded(commands, f'{OF_SLURM}\nworkers = 2\ncores = 1\nmemory = "1 GiB"\n{argument}')
    said = rf"^cluster: dask_jobqueue\.SLURMCluster cannot start a scheduler: {said}$"
    with pytest.raises(BadInput, match=said), clusters.open_pool(cluster):
        pass
    gc.collect()


@pytest.mark.long
@pytest.mark.processes
def test_a_study_runs_on_any_class_of_clusters(many, tmp_path):
    path, reference = many
    (tmp_path / "cluster.toml").write_text(
        'class = "distributed.LocalCluster"\nworkers = 2\nn_workers = 0\nthreads_per_worker = 1\n'
        'dashboard_address = "127.0.0.1:0"\n'
    )
    place = Folder(tmp_path / "out")
    complete(path, "--cluster", tmp_path / "cluster.toml", place=place, reference=reference)


@pytest.fixture
def commands(tmp_path, monkeypatch):
    """Stand-ins for the commands of the batch systems on the PATH; that of PBS starts the job it is given."""
    monkeypatch.setenv("PATH", f"{stand_ins(tmp_path)}:{os.environ['PATH']}")
    return tmp_path


@pytest.mark.parametrize(
    ("system", "own", "lines"),
    [
        (
            "PBS",
            'walltime = "00:30:00"\naccount = "stats"',
            ["#PBS -N sigstats", "#PBS -q long", "#PBS -A stats", "#PBS -l walltime=00:30:00", "#PBS -l x=1"],
        ),
        (
            "SGE",
            'walltime = "00:30:00"\nproject = "stats"',
            ["#$ -N sigstats", "#$ -q long", "#$ -P stats", "#$ -l h_rt=00:30:00", "#$ -l x=1"],
        ),
        (
            "LSF",
            'walltime = "00:30"\nproject = "stats"',
            ["#BSUB -J sigstats", "#BSUB -q long", '#BSUB -P "stats"', "#BSUB -W 00:30", "#BSUB -l x=1"],
        ),
    ],
)
def test_the_job_script_has_the_arguments_of_the_file_and_the_lines_of_the_site(commands, system, own, lines):
    text = (
        f'class = "dask_jobqueue.{system}Cluster"\nworkers = 8\ncores = 4\nmemory = "4 GiB"\nqueue = "long"\n{own}\n'
        f'job_extra_directives = ["-l x=1"]\nshared_temp_directory = "{commands}"'
    )
    cluster = loaded(commands, text)
    class_of(cluster.class_)  # or its defaults would go with what is set here
    site = {"job-script-prologue": ["module load python"], "worker-extra-args": ["--own"]}
    before = {f"jobqueue.{system.lower()}.{key}": value for key, value in site.items()}
    with dask.config.set(settings() | before), started_cluster(cluster, cluster.model_extra) as started:
        script = started.job_script()
        (folder,) = commands.glob(".sigstats-tls-*")
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700  # for this user alone
        keys = sorted(folder.iterdir())
        assert {stat.S_IMODE(file.stat().st_mode) for file in keys} == {0o600}
        assert all(
            f"--tls-{part} {file}" in script for part, file in zip(("ca-file", "cert", "key"), keys, strict=True)
        )
        assert started.security.require_encryption
    assert not folder.exists()
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


@pytest.mark.processes
@pytest.mark.faults
def test_a_study_runs_as_jobs_of_pbs(many, tmp_path, commands):
    path, reference = many
    (tmp_path / "cluster.toml").write_text(
        'class = "dask_jobqueue.PBSCluster"\nworkers = 2\ncores = 1\nmemory = "500 MiB"\n'
        f'shared_temp_directory = "{tmp_path}"\n'
    )
    place = Folder(tmp_path / "out")
    complete(path, "--cluster", tmp_path / "cluster.toml", place=place, reference=reference)
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


@pytest.mark.long
def test_the_ready_pods_fit_the_operators_schema(repository):
    folder = repository / "configs/clusters"
    arguments = load_cluster(str(folder / "kubernetes.toml")).model_extra
    given = {**arguments, "custom_cluster_spec": str(folder / arguments["custom_cluster_spec"])}
    (first, second) = (for_pods(given) for _ in range(2))
    assert first["name"] != second["name"]
    made = first["custom_cluster_spec"]
    assert made["metadata"]["name"] == first["name"]
    assert made["spec"]["scheduler"]["service"]["selector"]["dask.org/cluster-name"] == first["name"]
    kind, rules = schema("daskcluster")
    rules["properties"] |= {"apiVersion": {}, "kind": {"const": kind}, "metadata": {}}
    jsonschema.validate(made, rules)
    assert made["spec"]["idleTimeout"] == 600  # after which the operator takes back what a killed run left
    for part in ("scheduler", "worker"):
        pod = made["spec"][part]["spec"]
        assert pod["securityContext"]["runAsNonRoot"]
        assert not pod["containers"][0]["securityContext"]["allowPrivilegeEscalation"]
        assert not pod["automountServiceAccountToken"]
        assert ("envFrom" in pod["containers"][0]) == (part == "worker")
        env = frozenset((entry["name"], entry["value"]) for entry in pod["containers"][0]["env"])
        assert told(env) == "[1.0, False, False, '1s']\n"
    # The check can fail: a misspelt field does.
    made["spec"]["worker"]["spec"]["containers"][0]["imagePull"] = "Always"
    with pytest.raises(jsonschema.ValidationError, match="imagePull"):
        jsonschema.validate(made, rules)


@pytest.mark.long
def test_the_network_policy_selects_the_pods_that_the_operator_labels():
    from dask_kubernetes.operator.controller import controller

    folder = Path(__file__).parents[3] / "configs/clusters"
    rules = yaml.safe_load((folder / "kubernetes-network-policy.yaml").read_text())["spec"]
    of_pods = {"matchExpressions": [{"key": "dask.org/cluster-name", "operator": "Exists"}]}
    assert rules["podSelector"] == of_pods
    assert (rules["policyTypes"], len(rules["ingress"])) == (["Ingress"], 1)
    assert all(rules["ingress"][0]["from"])  # an empty selector would let everybody in
    assert of_pods in [one.get("podSelector") for one in rules["ingress"][0]["from"]]
    assert inspect.getsource(controller).count('"dask.org/cluster-name": cluster_name') >= 2


@pytest.mark.long
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
    cluster = loaded(tmp_path, f'class = "{KUBERNETES}"\nimage = "sigstats"\nworkers = 2')
    with (
        pytest.raises(BadInput, match=r"^cluster: dask_kubernetes\.operator\.KubeCluster cannot start a scheduler: "),
        clusters.open_pool(cluster),
    ):
        pass
