"""`sigstats warm-up` where nothing can be compiled; tests/docker/test_image.py has what it compiles."""

import sys

import pytest

from sigstats.flows.commands import main, warm_up
from sigstats.flows.running import study

from ..conftest import QUICK, study_file


def test_without_numba_one_line_says_what_is_missing(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "numba", None)  # importing it fails
    assert main(["warm-up"]) == 2
    expected = "sigstats: warm-up: Numba is missing; expected the extra fast: pip install 'sigstats[fast]'\n"
    assert capsys.readouterr().err == expected


def test_a_study_names_what_its_classifiers_need():
    assert sorted(warm_up._named("quickstart")) == ["1-nn", "decision-tree"]
    assert set(warm_up._named("quickstart")) < set(warm_up._named("keller")) <= set(warm_up._named(None))


@pytest.mark.long
def test_a_study_says_that_it_compiles_first(tmp_path, capsys, monkeypatch):
    study_file(tmp_path, QUICK)
    monkeypatch.setattr(study, "_COMPILED", tmp_path)
    words = ["run", str(tmp_path / "study.toml"), "--cluster", "serial", "--output"]
    assert main([*words, str(tmp_path / "cold")]) == 0
    assert "note: Numba first compiles for this processor, only once" in capsys.readouterr().err
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__/function.nbi").touch()
    assert main([*words, str(tmp_path / "warm")]) == 0
    assert "compiles" not in capsys.readouterr().err
