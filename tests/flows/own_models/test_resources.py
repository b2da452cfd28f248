"""What a classifier of another package needs of its worker, through a whole study."""

import pytest

import sigstats
from sigstats.flows.clusters.local import processors
from sigstats.flows.config.settings import Limited

from .conftest import named, replicates, study_of


@pytest.mark.long
@pytest.mark.processes
@pytest.mark.skipif(processors() < 2, reason="two threads need two processors")
@pytest.mark.parametrize("cluster", ["serial", "local"])
def test_its_numerical_libraries_have_the_threads_it_asks_for(package, tmp_path, cluster):
    """It fails unless it has two; the classifier beside it fails unless it has one."""
    two = named("two", deed="has_two_threads", extra=", resources = { threads = 2 }")
    study = study_of(tmp_path, [two, named("one", deed="has_one_thread"), '"lda"'], nulls="")
    workers = 1 if cluster == "local" else None
    sigstats.run_study(study, output=tmp_path / "out", cluster=cluster, workers=workers, allow=["netpackage"])
    assert sorted(replicates(tmp_path / "out")) == ["crossval.few.lda", "crossval.few.one", "crossval.few.two"]


@pytest.mark.long
@pytest.mark.parametrize("cluster", [None, "serial", "local"])
@pytest.mark.parametrize(
    ("resources", "said"),
    [
        ("gpu = 1", r"^classifier net: resources\.gpu: 1 is not valid here; expected at most 0, the gpus of "),
        ("threads = 1000", r"^classifier net: resources\.threads: 1000 is not valid here; expected at most \d+, the "),
    ],
)
def test_what_no_worker_will_have_is_refused_and_nothing_written(package, tmp_path, cluster, resources, said):
    study = study_of(tmp_path, [named("net", extra=f", resources = {{ {resources} }}")], nulls="")
    with pytest.raises(ValueError, match=said):
        sigstats.run_study(study, output=tmp_path / "out", cluster=cluster, allow=["netpackage"])
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("resources", ["threads = 0", "gpu = 0", 'threads = "four"', "gpus = 1"])
def test_bad_resources_are_named(package, tmp_path, resources):
    study = study_of(tmp_path, [named("net", extra=f", resources = {{ {resources} }}")], nulls="")
    with pytest.raises(ValueError, match=r"classifiers\.0\.resources\."):
        sigstats.run_study(study, output=tmp_path / "out", cluster="serial", allow=["netpackage"])


@pytest.mark.parametrize("memory", ["0 B", "0.0 GiB", "1.2.3 GiB", ". B"])
def test_a_memory_that_is_none_is_refused(memory):
    with pytest.raises(ValueError, match="memory"):
        Limited.model_validate({"resources": {"memory": memory}}).limits("net", own=True)
