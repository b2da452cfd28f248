"""`sigstats warm-up` where nothing can be compiled; tests/docker/test_image.py has what it compiles."""

import sys

from sigstats.flows.cli import main


def test_without_numba_one_line_says_what_is_missing(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "sigstats.learners.batched._tree_growth", None)  # importing it fails
    assert main(["warm-up"]) == 2
    expected = "sigstats: warm-up: Numba is missing; expected the extra fast: pip install 'sigstats[fast]'\n"
    assert capsys.readouterr().err == expected
