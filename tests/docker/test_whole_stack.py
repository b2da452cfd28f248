"""The whole stack of docker/ by hand: a deployed study, from Prefect's page to a bucket."""

import contextlib
import shutil
import subprocess

import pytest

from ..flows.conftest import PROGRAM, QUICK, results, run, study_file, wait_until
from ..flows.prefect_server import Api, postgresql
from ..object_store import client, object_store
from ..programs import needs
from .native import DOCKER, Native, cluster_file, dask_places, prefect_places

pytestmark = [pytest.mark.faults, pytest.mark.processes, needs(shutil.which("openssl"), "openssl")]

VALUES = {"POSTGRES_PASSWORD": "of/this@test:%3F#", "PREFECT_AUTH": "someone:secret"}


@pytest.fixture
def stack(tmp_path, monkeypatch):
    """PostgreSQL, a bucket, and every service that a deployment for the work pool needs, all of them well."""
    subprocess.run([DOCKER / "make-certificates.sh", tmp_path / "certificates"], check=True)
    with contextlib.ExitStack() as started:
        connection = started.enter_context(postgresql(VALUES["POSTGRES_PASSWORD"]))
        for name, value in started.enter_context(object_store("results")).items():
            monkeypatch.setenv(name, value)
        certificates = tmp_path / "certificates/services"
        places = {**dask_places(certificates, tmp_path), **prefect_places(connection, tmp_path)}
        services = {}
        for name in ("scheduler", "worker", "prefect", "pool"):
            services[name] = Native(name, places, VALUES)
            started.callback(services[name].kill)
            wait_until(services[name].healthy, seconds=240, interval=0.5)
        yield services, places


def test_a_deployed_study_goes_from_the_page_over_the_workers_to_a_bucket(stack, tmp_path):
    services, places = stack
    study = study_file(tmp_path, QUICK)
    cluster = study_file(tmp_path, cluster_file(places), "cluster.toml")
    of_a_person = services["pool"].environment
    words = ["deploy", study, "--output", "s3://results/quick", "--cluster", cluster, "--work-pool", "sigstats"]
    subprocess.run([*PROGRAM, *map(str, words)], env=of_a_person, check=True, timeout=240)
    api = Api(of_a_person["PREFECT_API_URL"], VALUES["PREFECT_AUTH"])
    ended = api.ended(api.run_now(api.deployment("study")), seconds=400)
    assert ended["state_type"] == "COMPLETED", api.log_of(ended["id"])
    plain = run("run", study, "--output", tmp_path / "plain", "--cluster", "serial")
    assert plain.returncode == 0, plain.stderr
    expected = results(tmp_path / "plain")
    bucket = client(of_a_person)
    stored = {name: bucket.get_object(Bucket="results", Key=f"quick/{name}")["Body"].read() for name in expected}
    assert stored == expected
    receipts = bucket.list_objects_v2(Bucket="results", Prefix="quick/receipts/")["Contents"]
    texts = [bucket.get_object(Bucket="results", Key=found["Key"])["Body"].read() for found in receipts]
    assert any(b'"dask"' in text for text in texts)
    cells = {path.split("/")[1] for path in expected if path.startswith("replicates/")}
    wait_until(lambda: cells <= {found["name"] for found in api.tasks_of(ended["id"])}, seconds=60, interval=1)
