"""`sigstats verify`: the bytes of a study on two engines."""

import pytest

from sigstats._common.extras import MissingExtra
from sigstats.flows.commands import main, verify


def test_an_output_that_cannot_be_written_is_refused_before_anything_is_checked(tmp_path, capsys):
    assert main(["verify", "--json", str(tmp_path / "none" / "found.json")]) == 2
    out, err = capsys.readouterr()
    assert not out
    assert "none/found.json: cannot be written" in err


@pytest.fixture
def no_digits(monkeypatch):
    """An empty reference set."""
    monkeypatch.setattr(verify, "tables", dict)
    monkeypatch.setattr(verify, "lacking", list)


def test_what_an_extra_brings_is_named_and_left_out(no_digits, monkeypatch, printed):
    def absent(*_, **__):
        raise MissingExtra("sklearn")

    monkeypatch.setattr(verify, "run_study", absent)
    said = printed("verify").splitlines()
    assert "bytes: not checked: sklearn is not installed; pip install 'sigstats[studies]'" in said


@pytest.mark.long
@pytest.mark.processes
def test_a_plain_loop_and_workers_leave_the_same_bytes(no_digits, printed):
    assert "the same bytes" in printed("verify")


def test_another_seed_on_one_engine_is_found(no_digits, monkeypatch, capsys):
    right = verify.run_study

    def other(output, cluster, workers=None):
        monkeypatch.setitem(verify.STUDY, "seed", int(cluster == "local"))
        right(output, "serial")

    monkeypatch.setattr(verify, "run_study", other)
    monkeypatch.setitem(verify.STUDY, "classifiers", ["naive-bayes"])
    assert main(["verify"]) == 3
    assert "summary.parquet of a study differs between a plain loop and local workers" in capsys.readouterr().err
