"""Classifiers that misbehave: each is named as what it is, the study goes on, and the others lose nothing."""

import psutil
import pytest

import sigstats
from sigstats.tasks.engine import guarded
from sigstats.tasks.engine.blocks import BlockSizer, Receipt
from sigstats.tasks.results import Results
from sigstats.tasks.storage.store import Store

from ..conftest import run
from .conftest import named, replicates, study_of

pytestmark = [pytest.mark.processes, pytest.mark.faults]  # learners crash, hang and take memory

#: What a classifier does, and what is said of it.
DEEDS = {
    "raises": "classifier: Unruly failed in fold 0: RuntimeError: no luck",
    "quits": "its code raised SystemExit: 3",
    "exits": "classifier exits: it ended its process with exit code 7",
    "crashes": "classifier crashes: its process was ended by SIGSEGV",
    "hangs": "classifier hangs: a fit took longer than 0.5 s, its time_limit",
    "takes": "classifier takes: its process took more than 1 GiB of memory",
    "writes": "classifier writes: it wrote to, or closed, the connection between its process and the run",
    "garbles": "classifier garbles: it wrote to, or closed, the connection between its process and the run",
    "complains": "classifier: Unruly failed in fold 0: ValueError: \\x1b[2Jx\\x1b[2Jx",
    "alien": "classifier (Unruly's predictions in fold 0)",
}

#: What ends or spoils the process of a classifier, which a worker has beside it as this process has.
FATAL = ("exits", "crashes", "hangs", "takes", "writes")

#: What a classifier may do: no result differs by it.
HARMLESS = ["moves", "stays", "prints", "forks", "seeds", "leaks"]


def unruly(deed):
    limits = {"hangs": ", time_limit = 0.5", "takes": ', resources = { memory = "1 GiB" }'}
    return named(deed, extra=limits.get(deed, ""), deed=deed)


@pytest.mark.parametrize("cluster", ["serial", "local"])
def test_each_is_named_and_the_study_goes_on(package, tmp_path, monkeypatch, cluster):
    monkeypatch.setenv("PYTHONPATH", str(package.parent))
    good = [named("means"), '"lda"']
    deeds = DEEDS if cluster == "serial" else {deed: DEEDS[deed] for deed in FATAL}
    study = study_of(tmp_path, [*map(unruly, deeds), *good], nulls="" if cluster == "serial" else '"labels"')
    arguments = ["--cluster", cluster, *(["--workers", "1"] if cluster == "local" else []), "--allow", "netpackage"]
    ended = run("run", study, "--output", tmp_path / "all", *arguments)
    assert ended.returncode == 3
    lines = ended.stderr.splitlines()
    for deed, said in deeds.items():
        assert any(f"failed: few, {deed}: " in line and said in line for line in lines), (deed, ended.stderr)
    sigstats.run_study(study_of(tmp_path, good), output=tmp_path / "good", cluster="serial", allow=["netpackage"])
    alone, together = replicates(tmp_path / "good"), replicates(tmp_path / "all")
    assert together
    assert together == {name: alone[name] for name in together}


def test_one_that_kills_its_worker_every_time_is_named_and_the_rest_completes(package, tmp_path, monkeypatch, record):
    monkeypatch.setenv("PYTHONPATH", str(package.parent))
    innocent = [named("means"), '"lda"']
    study = study_of(tmp_path, [named("assaults", deed="assaults"), *innocent], nulls="")
    arguments = ["--cluster", "local", "--workers", "2", "--allow", "netpackage", "--output", tmp_path / "all"]
    ended = run("run", study, *arguments)
    assert ended.returncode == 3, ended.stderr
    failed = [line for line in ended.stderr.splitlines() if line.startswith("sigstats: failed: ")]
    said = "WorkersKilled: classifier assaults: it killed its worker 12 times"
    assert failed == [f"sigstats: failed: few, assaults: {said}"]
    sigstats.run_study(
        study_of(tmp_path, innocent, nulls=""), output=tmp_path / "good", cluster="serial", allow=["netpackage"]
    )
    assert replicates(tmp_path / "all") == replicates(tmp_path / "good")
    models = package / "models.py"
    models.write_text(models.read_text().replace("os.kill(os.getppid(), signal.SIGKILL)", "return"))
    study = study_of(tmp_path, [named("assaults", deed="assaults"), *innocent], nulls="")
    again = run("run", study, *arguments[4:], "--cluster", "serial")
    assert again.returncode == 0, again.stderr
    seen = "named as failed, the rest complete, exit code 3; continued once it is corrected"
    record("a classifier of another package kills its worker every time", count=12, seen=seen)


def test_what_does_no_harm_changes_nothing(package, tmp_path):
    study = study_of(tmp_path, [named("means"), *map(unruly, HARMLESS)])
    sigstats.run_study(study, output=tmp_path / "out", cluster="serial", allow=["netpackage"])
    guarded.end_idle()
    assert not [
        each for each in psutil.Process().children(recursive=True) if "engine.guarded" in " ".join(each.cmdline())
    ]
    found = Results(Store(str(tmp_path / "out")))
    counts = {cell.subject["classifier"]: found.table(cell)["wrong"].to_pylist() for cell in found.cells("retrain")}
    assert set(counts) == {"means", *HARMLESS}
    assert all(count == counts["means"] for count in counts.values())


def test_draws_from_the_global_generators_do_not_depend_on_the_blocks(package, tmp_path):
    study = study_of(tmp_path, [named("draws", deed="draws")], resamples=29)
    sigstats.run_study(study, output=tmp_path / "out", cluster="serial", allow=["netpackage"])
    store = Store(str(tmp_path / "out"))
    found = Results(store)
    cell = found.cells("retrain")[0]
    for first in (2, 1):
        assert isinstance(guarded.run_guarded(cell.block(first, first + 1), store), Receipt)
        alone = store.read_block(cell, first * 10, min(first * 10 + 10, 29))
        assert alone.equals(found.table(cell).slice(first * 10, 10))


def test_a_worker_that_leaks_gets_a_new_process(package, tmp_path, monkeypatch):
    monkeypatch.setattr(guarded, "memory_limit", lambda: 5 * 2**27)
    # A quick machine takes more lanes to a block, which leak more than a process may have.
    monkeypatch.setattr(BlockSizer, "_next_lanes", lambda *_: 1)
    study = study_of(tmp_path, [named("leaks", deed="leaks")], resamples=29)
    sigstats.run_study(study, output=tmp_path / "out", cluster="serial", allow=["netpackage"])


def test_results_in_this_process_are_refused(package, tmp_path):
    study = study_of(tmp_path, [named("means")], nulls="")
    with pytest.raises(
        ValueError, match="memory://own is in the memory of this process, but code from another package"
    ):
        sigstats.run_study(study, output="memory://own", allow=["netpackage"])
