"""`sigstats verify`: its options, and the bytes of a study on two engines."""

import pytest

from sigstats._common.extras import MissingExtra
from sigstats.flows.cli import main
from sigstats.flows.commands import verify


def test_an_output_that_cannot_be_written_is_refused_before_anything_is_checked(tmp_path, capsys):
    assert main(["verify", "--json", str(tmp_path / "none" / "found.json")]) == 2
    out, err = capsys.readouterr()
    assert not out
    assert "none/found.json: cannot be written" in err


def test_what_an_extra_brings_is_named_and_left_out_unless_it_is_asked_for(monkeypatch, printed):
    def absent(*_, **__):
        raise MissingExtra("sklearn")

    monkeypatch.setattr(verify, "run_study", absent)
    monkeypatch.setattr(verify, "tables", dict)
    monkeypatch.setattr(verify, "lacking", list)
    said = printed("verify").splitlines()
    assert "bytes: not checked: sklearn is not installed; pip install 'sigstats[studies]'" in said
    assert main(["verify", "--only", "bytes"]) == 2


@pytest.mark.long
@pytest.mark.processes
def test_a_plain_loop_and_workers_leave_the_same_bytes(printed):
    assert "the same bytes" in printed("verify", "--only", "bytes")


def test_another_seed_on_one_engine_is_found(monkeypatch, capsys):
    right = verify.run_study

    def other(output, cluster, workers=None):
        monkeypatch.setitem(verify.STUDY, "seed", int(cluster == "local"))
        right(output, "serial")

    monkeypatch.setattr(verify, "run_study", other)
    monkeypatch.setitem(verify.STUDY, "classifiers", ["naive-bayes"])
    assert main(["verify", "--only", "bytes"]) == 3
    assert "summary.parquet of a study differs between a plain loop and local workers" in capsys.readouterr().err
