"""Whole runs: the same bytes on every cluster, good manners, and what goes wrong."""

import json
import re
import shutil
import sys
from subprocess import PIPE, Popen

import pyarrow.parquet as pq
import pytest

from sigstats.flows.running import workers
from sigstats.tasks.engine import pools
from sigstats.tasks.engine.pools import GrowingPool

from ..conftest import QUICK, blocks, environment, results, run, run_on, start, study_file, wait_until

pytestmark = pytest.mark.processes

LONG = """
kind = "benchmark"
datasets = ["wine"]
classifiers = ["1-nn", "decision-tree"]
permutation = { resamples = 200_000 }
"""
SCHEDULER = """
import sys
from distributed import LocalCluster
if __name__ == "__main__":
    with LocalCluster(n_workers=1, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0") as cluster:
        print(cluster.scheduler_address, flush=True)
        sys.stdin.read()
"""


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory):
    """The address of a Dask scheduler that runs already, with a worker."""
    script = tmp_path_factory.mktemp("scheduler") / "cluster.py"
    script.write_text(SCHEDULER)
    process = Popen([sys.executable, str(script)], stdin=PIPE, stdout=PIPE, text=True, env=environment())
    with process:
        yield process.stdout.readline().strip()
        process.stdin.close()
        process.wait(30)


@pytest.mark.long
@pytest.mark.parametrize("where", ["two workers", "scheduler"])
def test_every_cluster_gives_the_bytes_of_the_plain_loop(quick, tmp_path, request, where):
    path, reference, _ = quick
    cluster, workers = ("local", 2) if where == "two workers" else (request.getfixturevalue("scheduler"), None)
    assert run_on(path, tmp_path / "out", cluster, workers).engines == {"dask"}
    assert results(tmp_path / "out") == reference


@pytest.mark.long
def test_a_run_that_goes_well_says_what_it_is_how_it_ended_and_where_the_report_is(quick, tmp_path):
    path, reference, _ = quick
    done = run("run", path, "--output", tmp_path / "out", "--workers", "1")
    assert done.returncode == 0, done.stderr
    assert results(tmp_path / "out") == reference
    lines = done.stderr.splitlines()
    said = [line for line in lines if not line.startswith(("  ", "note: "))]
    assert [re.split("[:,]", line)[0] for line in said] == ["study", "12 computations", "report"]
    assert done.stdout == ""


@pytest.mark.long
@pytest.mark.parametrize("cluster", [("--cluster", "serial"), ("--workers", "1")], ids=["serial", "worker"])
def test_a_run_whose_output_is_moved_ends_and_goes_on_at_its_new_place(tmp_path, cluster):
    path, output, moved = study_file(tmp_path, LONG), tmp_path / "out", tmp_path / "moved"
    process = start("run", path, "--output", output, *cluster)
    wait_until(lambda: blocks(output) > 4, process)
    output.rename(moved)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 3
    last = err.splitlines()[-1]
    assert last.startswith(f"sigstats: FileNotFoundError: {output} was moved or removed during the run; to continue")
    assert "hypotheses" not in err
    kept = blocks(moved)
    done = run("run", path, "--output", moved, "--part", "1/1000")
    assert done.returncode == 0, done.stderr
    assert "computed again" not in done.stderr
    assert blocks(moved) >= kept


@pytest.mark.long
def test_a_study_that_takes_longer_goes_on_with_workers(program, quick, tmp_path, monkeypatch):
    path, reference, _ = quick
    monkeypatch.setattr(workers, "GROW_AFTER", 0.0)
    monkeypatch.setattr(pools, "SENDING", 0.0)
    # the first blocks are computed before any worker is there, and the others wait for one
    monkeypatch.setattr(GrowingPool, "submit", _later_blocks_wait(GrowingPool.submit))
    done = program("run", path, "--output", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert results(tmp_path / "out") == reference
    receipts = [json.loads(item.read_text()) for item in (tmp_path / "out" / "receipts").glob("*.*.json")]  # of cells
    assert {block["engine"] for item in receipts for block in item["blocks"]} == {"serial", "dask"}
    assert " by this process and workers" in done.stderr
    assert " lost" not in done.stderr


def _later_blocks_wait(submit):
    first = []

    def waiting(self, block, store, done):
        if first:
            wait_until(lambda: self._grown)
        first.append(block)
        return submit(self, block, store, done)

    return waiting


@pytest.mark.long
@pytest.mark.parametrize("cluster", [(), ("--workers", "1"), ("--cluster", "tcp://127.0.0.1:9")])
def test_a_finished_study_is_not_computed_again_and_can_be_summarised_again(
    program, quick, tmp_path, monkeypatch, cluster
):
    path, reference, output = quick
    receipts = {item.name: item.read_bytes() for item in (output / "receipts").iterdir()}
    monkeypatch.setattr("sigstats.flows.clusters.open_pool", None)  # no worker is needed
    done = program("run", path, "--output", output, *cluster)
    assert done.returncode == 0
    assert "; nothing was left to compute" in done.stderr
    assert {item.name: item.read_bytes() for item in (output / "receipts").iterdir()} == receipts
    (output / "summary.parquet").unlink()
    (output / "report.html").unlink()
    assert program("report", output).returncode == 0
    assert results(output) == reference


def test_the_summary_says_what_every_column_means(quick):
    schema = pq.read_schema(quick[2] / "summary.parquet")
    assert all(field.metadata[b"unit"] and field.metadata[b"meaning"] for field in schema)


def test_another_study_in_the_same_output_is_refused_and_nothing_is_written(program, quick, tmp_path):
    path, reference, output = quick
    done = program("run", path, "--output", output, "--cluster", "serial", "--set", "seed=6")
    assert done.returncode == 2
    (said,) = [line for line in done.stderr.splitlines() if line.startswith("sigstats:")]
    assert "study.seed is 5 there and 6 here" in said
    assert results(output) == reference


#: A classifier that raises on every fold.
GREEDY = QUICK.replace(
    '"naive-bayes"]',
    '{ name = "greedy", learner = "sklearn.neighbors.KNeighborsClassifier", params = { n_neighbors = 5000 } }]',
)


def test_a_classifier_that_raises_fails_its_cells_and_no_other(program, tmp_path):
    done = program("run", study_file(tmp_path, GREEDY), "--output", tmp_path / "out", "--cluster", "serial")
    assert done.returncode == 3
    failed = [line for line in done.stderr.splitlines() if "failed" in line]
    assert len(failed) == 6
    assert all("greedy" in line and "n_neighbors" in line for line in failed)
    summary = pq.read_table(tmp_path / "out" / "summary.parquet").to_pylist()
    missing = {row["decision"] == "missing" for row in summary if "greedy" in (row["classifier"], row["a"], row["b"])}
    present = {row["decision"] == "missing" for row in summary if row["classifier"] == "1-nn"}
    assert (missing, present) == ({True}, {False})
    receipts = [json.loads(item.read_text()) for item in (tmp_path / "out" / "receipts").iterdir()]
    assert sum(bool(item["failures"]) for item in receipts) == 6


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (('"wine"', '"wien"'), "did you mean 'wine'?"),
        (('"naive-bayes"', '"naive-baies"'), "did you mean 'naive-bayes'?"),
        (("resamples", "resample"), "did you mean 'resamples'?"),
        (('"naive-bayes"', '{name = "a", learner = "os.system"}'), "os.system"),
        (("[permutation]", "[cross_validation]\nfolds = 60\n[permutation]"), "60"),
    ],
)
def test_bad_input_is_one_line_exit_code_2_and_nothing_written(program, tmp_path, change, complaint):
    path = study_file(tmp_path, QUICK.replace(*change))
    done = program("run", path, "--output", tmp_path / "out", "--cluster", "serial")
    assert done.returncode == 2
    assert complaint in done.stderr
    assert len([line for line in done.stderr.splitlines() if line.startswith("sigstats:")]) == 1
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.long
def test_a_scheduler_that_is_not_there_is_one_line(program, tmp_path, quick):
    cluster = study_file(tmp_path, 'kind = "address"\naddress = "tcp://127.0.0.1:9"\ntimeout = 2.0', "where.toml")
    done = program("run", quick[0], "--output", tmp_path / "out", "--cluster", cluster)
    assert done.returncode == 2
    assert "no Dask scheduler answers at tcp://127.0.0.1:9" in done.stderr
    assert not (tmp_path / "out").exists()


def test_an_encrypted_scheduler_without_certificates_is_one_line(program, tmp_path, quick):
    done = program("run", quick[0], "--output", tmp_path / "out", "--cluster", "tls://127.0.0.1:9")
    assert done.returncode == 2
    (said,) = [line for line in done.stderr.splitlines() if line.startswith("sigstats:")]
    assert "address: 'tls://127.0.0.1:9' is not valid without certificates; add [tls] to a cluster file" in said
    assert not (tmp_path / "out").exists()


def test_an_output_whose_study_cannot_be_told_is_left_alone(program, tmp_path, quick):
    """A link to itself: not to be read, but a file could take its place."""
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "study.json").symlink_to("study.json")
    done = program("run", quick[0], "--output", tmp_path / "out", "--cluster", "serial")
    assert done.returncode == 2
    assert f"--output: {tmp_path / 'out'}: study.json cannot be read" in done.stderr
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["study.json"]


def test_a_link_within_an_output_is_not_followed(program, tmp_path, quick):
    path, _, before = quick
    shutil.copytree(before, tmp_path / "out")
    (tmp_path / "out" / "replicates").rename(tmp_path / "elsewhere")
    (tmp_path / "out" / "replicates").symlink_to(tmp_path / "elsewhere")
    done = program("run", path, "--output", tmp_path / "out", "--cluster", "serial")
    assert done.returncode == 2
    said = f"sigstats: --output: {tmp_path / 'out' / 'replicates'} is a link; replace it with a real folder"
    assert done.stderr.splitlines()[-1] == said


def test_a_history_of_comparisons_is_no_output_of_another_study(program, tmp_path, quick):
    content = json.dumps({"study": {"kind": "regression", "name": "nightly"}})
    study_file(tmp_path, content, "study.json")
    done = program("run", quick[0], "--output", tmp_path, "--cluster", "serial")
    assert done.returncode == 2
    assert "contains another study: study.kind is 'regression' there and 'benchmark' here" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["study.json"]
    assert (tmp_path / "study.json").read_text() == content


def test_a_damaged_study_is_named_and_blocks_of_another_study_stay(program, tmp_path, quick):
    path, reference, before = quick
    output = tmp_path / "out"
    shutil.copytree(before, output)
    own = next((output / "replicates").iterdir()).name
    for content, complaint in (
        ("{", "study.json is not JSON"),
        ((before / "study.json").read_text().replace("iris", "irit"), "study.json was altered"),
    ):
        (output / "study.json").write_text(content)
        for name in (own, "retrain.another.0123456789"):
            (output / "blocks" / name).mkdir(parents=True, exist_ok=True)
            (output / "blocks" / name / "000000000-000000010.parquet").write_text("work of hours")
        done = program("run", path, "--output", output, "--cluster", "serial")
        assert done.returncode == 0, done.stderr
        assert f"computed again: {complaint}" in done.stderr
        assert results(output) == reference
        assert [path.name for path in (output / "blocks").iterdir()] == ["retrain.another.0123456789"]
        assert (output / "study.json").read_text() == (before / "study.json").read_text()


def test_an_output_that_cannot_be_a_folder_is_one_line(program, tmp_path, quick):
    (tmp_path / "file").write_text("")
    done = program("run", quick[0], "--output", tmp_path / "file" / "out", "--cluster", "serial")
    assert done.returncode == 2
    assert "--output" in done.stderr


@pytest.mark.long
def test_plan_computes_nothing_and_tells_all(program, quick, tmp_path):
    path, _, output = quick
    done = program("plan", path, "--output", tmp_path / "out")
    assert done.returncode == 0
    assert not (tmp_path / "out").exists()
    assert "12 computations (cells), 476 replicates" in done.stdout
    assert f"on {workers.processors()} worker(s)" in done.stdout
    assert "note: no permutation test can be rejected: 4 tests adjusted by Holm need permutation.resamples = 79" in (
        done.stdout
    )
    again = program("plan", path, "--output", output, "--no-timing")
    assert " 0 to do,        59 done" in again.stdout
    assert "59 to do,         0 done" in done.stdout
    assert "12 computations (cells), 476 replicates: 476 to do, 0 done; timing cells" in done.stderr
    assert "timing" not in again.stderr


def test_a_memory_url_is_an_output(program, quick):
    done = program("run", quick[0], "--output", "memory://out", "--cluster", "serial")
    assert done.returncode == 0, done.stderr
