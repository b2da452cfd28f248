"""The pods of configs/clusters/kubernetes-tls.yaml: fields that Kubernetes knows, and their commands as processes."""

import contextlib
import shutil
import subprocess

import pytest
import yaml

from sigstats.flows.errors import REGRESSION

from ..flows.conftest import results, run, study_file, wait_until
from ..flows.prefect_server import free_port
from ..lazily import lazily
from ..programs import needs
from .native import DOCKER, Native, here, refuses_without_certificate

kubernetes = lazily("kubernetes")

FOLDER = DOCKER.parent / "configs/clusters"
RESOURCES = {
    (one["kind"], one["metadata"].get("name", "sigstats-run")): one
    for file in ("kubernetes-tls.yaml", "kubernetes-tls-run.yaml")
    for one in yaml.safe_load_all((FOLDER / file).read_text())
}
TEMPLATES = {
    name: RESOURCES[kind, name]["spec"]["template"]
    for kind, name in (("Deployment", "sigstats-scheduler"), ("Deployment", "sigstats-worker"), ("Job", "sigstats-run"))
}


def unknown(value, model, path=""):
    """The paths of fields that a model of Kubernetes' own client does not have."""
    if model.lower().startswith("list["):
        return [wrong for at, one in enumerate(value) for wrong in unknown(one, model[5:-1], f"{path}[{at}]")]
    known = getattr(kubernetes.client, model, None)
    if known is None or not hasattr(known, "attribute_map"):
        return []
    types = {outer: known.openapi_types[inner] for inner, outer in known.attribute_map.items()}
    return [
        wrong
        for field, inner in value.items()
        for wrong in (unknown(inner, types[field], f"{path}.{field}") if field in types else [f"{path}.{field}"])
    ]


def test_the_resources_have_only_fields_of_kubernetes():
    for (kind, name), resource in RESOURCES.items():
        assert not unknown(resource, f"V1{kind}"), name
    misspelt = {"spec": {"template": {"spec": {"containers": [{"name": "a"}, {"imagePull": "Always"}]}}}}
    assert unknown(misspelt, "V1Deployment") == [".spec.template.spec.containers[1].imagePull"]


def test_pods_run_without_root_and_only_those_of_this_package_connect():
    for name, template in TEMPLATES.items():
        pod, (container,) = template["spec"], template["spec"]["containers"]
        assert pod["securityContext"]["runAsNonRoot"], name
        assert not pod["automountServiceAccountToken"], name
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]},
        }, name  # fmt: skip
        mounted = {mount["name"] for mount in container["volumeMounts"]}
        assert mounted == {volume["name"] for volume in pod["volumes"]}, name
        keys = next(volume["secret"] for volume in pod["volumes"] if volume["name"] == "tls")
        assert keys["defaultMode"] == 0o440, name  # readable through fsGroup, not by everybody
        assert pod["securityContext"]["fsGroup"] == 1000, name
        assert ("envFrom" in container) == (name != "sigstats-scheduler")
        if "livenessProbe" in container:  # a pod that is late is not at once killed, with the blocks it has
            ready, alive = container["readinessProbe"], container["livenessProbe"]
            assert ready["exec"] == alive["exec"]
            assert alive["failureThreshold"] * alive["periodSeconds"] >= 300 > ready["failureThreshold"]
    policy = RESOURCES["NetworkPolicy", "sigstats-tls"]["spec"]
    selected = {name for name, one in TEMPLATES.items() if policy["podSelector"]["matchLabels"].items() <= labels(one)}
    assert selected == {"sigstats-scheduler", "sigstats-worker"}
    (rule,) = policy["ingress"]
    wanted = [one["podSelector"]["matchLabels"].items() for one in rule["from"]]
    assert all(any(each <= labels(template) for each in wanted) for template in TEMPLATES.values())
    assert all(wanted)  # an empty selector would let everybody in
    failed, evicted = RESOURCES["Job", "sigstats-run"]["spec"]["podFailurePolicy"]["rules"]
    assert (failed["action"], failed["onExitCodes"]["values"]) == ("FailJob", [REGRESSION])
    assert evicted["action"] == "Ignore"
    service = RESOURCES["Service", "sigstats-scheduler"]["spec"]
    assert service["selector"].items() <= labels(TEMPLATES["sigstats-scheduler"])


def labels(template):
    return template["metadata"]["labels"].items()


@pytest.mark.faults
@pytest.mark.processes
@needs(shutil.which("openssl"), "openssl")
def test_a_study_runs_on_these_pods_and_none_of_their_ports_answers_without_a_certificate(tmp_path):
    subprocess.run([DOCKER / "make-certificates.sh", tmp_path / "certificates"], check=True)
    certificates = tmp_path / "certificates/services"
    port = str(free_port())
    places = {
        "/certificates": str(certificates), "tls://sigstats-scheduler:8786": f"tls://127.0.0.1:{port}",
        "8786": port, "8787": str(free_port()), "/spill": str(tmp_path),
    }  # fmt: skip
    with contextlib.ExitStack() as started:

        def start(name):
            (container,) = TEMPLATES[name]["spec"]["containers"]
            pod = Native(
                {
                    "command": container["args"],
                    "environment": {entry["name"]: entry["value"] for entry in container["env"]},
                    "healthcheck": {"test": ["CMD", *container["readinessProbe"]["exec"]["command"]]},
                    "build": {"target": "serving" if "serving" in container["image"] else "computing"},
                },
                {**places, "8788": str(free_port())},
            )
            started.callback(pod.kill)
            wait_until(pod.healthy, seconds=240, interval=0.5)
            return pod

        scheduler = start("sigstats-scheduler")
        workers = [start("sigstats-worker") for _ in range(2)]
        cluster = study_file(tmp_path, here((FOLDER / "kubernetes-tls.toml").read_text(), places), "cluster.toml")
        study = study_file(tmp_path, 'kind = "benchmark"\ndatasets = ["iris"]\nclassifiers = ["lda", "1-nn"]\n')
        for name, where in (("pods", cluster), ("plain", "serial")):
            done = run("run", study, "--output", tmp_path / name, "--cluster", where)
            assert done.returncode == 0, done.stderr
        assert results(tmp_path / "pods") == results(tmp_path / "plain")
        for pod in (scheduler, *workers):
            inner = {address for address in pod.listening() if address[0] == "127.0.0.1"}
            outer = pod.listening() - inner
            assert inner
            assert outer
            for _, reachable in outer:
                refuses_without_certificate(reachable, certificates)
