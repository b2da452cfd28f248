"""A whole study on an object store that speaks S3."""

import re
from collections import Counter

import pytest

from ..object_store import client, object_store
from .conftest import Bucket, complete, results, run

pytestmark = pytest.mark.processes


def test_a_study_on_s3_has_the_bytes_of_one_in_a_folder(few, bucket, record):
    path, reference = few
    place = bucket()
    complete(path, "--workers", "2", place=place, reference=reference)
    assert {name.split("/")[0] for name in place.names()} == {
        *("data", "receipts", "replicates"),
        *("plan.parquet", "report.html", "study.json", "summary.parquet"),
    }
    again = run("run", path, "--cluster", "serial", place=place)
    assert again.returncode == 0, again.stderr
    assert results(place) == reference
    record("a study on an object store, with local workers", where="s3", count=1, seen="the bytes of one in a folder")


def test_a_bucket_that_is_not_there_is_one_line(many, bucket):
    place = bucket()
    place.url = "s3://no-such-bucket/study"
    done = run("run", many[0], "--cluster", "serial", place=place)
    assert done.returncode == 2
    assert "--output: s3://no-such-bucket/study cannot be written" in done.stderr
    assert len([line for line in done.stderr.splitlines() if line.startswith("sigstats:")]) == 1


def test_a_store_that_does_not_answer_is_one_line(many, bucket):
    place = bucket()
    place.environment = {**place.environment, "AWS_ENDPOINT_URL": "http://127.0.0.1:9", "AWS_MAX_ATTEMPTS": "1"}
    done = run("run", many[0], "--cluster", "serial", place=place)
    assert done.returncode == 2
    assert f"--output: {place.url}: study.json cannot be read" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_finished_study_on_s3_grows_and_refuses_what_would_change_it(bucket, tmp_path):
    study = tmp_path / "study.toml"
    study.write_text('kind = "calibration"\nseed = 4\nsizes = [40]\ntrials = 240\n[[populations]]\nname = "p"\n')
    with study.open("a") as file:
        file.write('source = "sturm"\nclasses = 10\nright = [0.0]\n[[tests]]\ntest = "mcnemar"\n')
    place = bucket()
    assert run("run", study, "--cluster", "serial", place=place).returncode == 0
    before = {name: place.read(name) for name in place.names()}
    refused = run("run", study, "--cluster", "serial", "--set", "seed=5", place=place)
    assert refused.returncode == 2
    assert "it would change 1 stored cell, test sets of p, r = 0%, 40, McNemar (exact)" in refused.stderr
    assert {name: place.read(name) for name in place.names()} == before
    larger = ("--set", "sizes=[40, 80]", "--set", "alpha=0.1")
    grown = run("run", study, "--cluster", "serial", *larger, place=place)
    assert grown.returncode == 0, grown.stderr
    stored = [name for name in before if name.startswith("replicates/")]
    assert stored
    assert all(place.read(name) == before[name] for name in stored)
    anew = bucket()
    assert run("run", study, "--cluster", "serial", *larger, place=anew).returncode == 0
    assert results(place) == results(anew)


def requests(log):
    """The requests of a log, by method and by what they are about; the renewals of the lease are left out."""
    plain = re.sub(r"\x1b\[[0-9;]*m", "", log.read_text())
    found = re.findall(r'"([A-Z]+) /studies[/?]?(\S*) HTTP', plain)
    kinds = [(method, re.sub(r"^[^/]+/|/.*", "", target.partition("?")[0])) for method, target in found]
    counted = Counter(kinds)
    counted["PUT", ".lock"] = min(counted["PUT", ".lock"], 1)
    return counted


def test_a_cell_takes_six_requests_and_a_study_thirty(many, tmp_path, record):
    path, reference = many
    log, cells, firsts = tmp_path / "requests", 60, []
    with log.open("w") as file, object_store("studies", file) as own:
        for how in (("--cluster", "serial"), ("--workers", "2")):
            place = Bucket(client(own), how[0].strip("-"), own)
            before = requests(log).total()
            done = run("run", path, *how, place=place)
            assert done.returncode == 0, done.stderr
            firsts.append(requests(log).total() - before)
            assert results(place) == reference
            before = requests(log).total()
            assert run("run", path, *how, place=place).returncode == 0
            assert requests(log).total() - before <= 2 * cells + 30
    assert max(firsts) <= 6 * cells + 30
    record("a study on an object store", where="s3", count=1, seen=f"{firsts[0]} requests for {cells} cells")
