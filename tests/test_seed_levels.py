"""What docs/seeds.md promises of every public name and kind of study, and that Numba and threads change no byte."""

import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import sigstats
from sigstats._common.calls import MOVED
from sigstats.flows.kinds import KINDS
from tools import seed_levels

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "seeds.md").read_text(encoding="utf-8")


def test_every_public_name_and_every_kind_of_study_has_one_level():
    rows = re.findall(r"^\| same [a-z ]+ \| (.+?) \|", PAGE, flags=re.MULTILINE)
    named = Counter(name for names in rows for name in re.findall(r"`([^`]+)`", names))
    wanted = {*sigstats.__all__, *MOVED} - {"results", "possibilistic"} | {*(f"study: {kind}" for kind in KINDS)}
    assert {name for name in named if not name.endswith(", drawn")} == wanted
    assert set(named.values()) == {1}


def test_every_public_function_and_rule_is_called():
    called = {name.partition(", ")[0] for name in seed_levels.CALLS}
    functions = {*filter(str.islower, sigstats.__all__)} - {
        "run_study",
        "open_results",
        "results",
        "fuzzy",
        "possibilistic",
    }
    rules = {name for name in sigstats.__all__ if name.endswith("Rule")} - {"ComparisonRule"}  # an argument of compare
    assert functions | rules <= called
    promised = seed_levels.promises()
    assert all(seed_levels.promised_of(name, promised) < len(seed_levels.LEVELS) for name in seed_levels.CALLS)


@pytest.mark.parametrize(
    ("one", "other", "level"),
    [
        (["a", 0.5, "3"], ["a", 0.5, "3"], "same bytes"),
        (["a", 0.5, "3"], ["a", 0.5 + 1e-13, "3"], "same decisions"),
        (["a", 0.5, "3"], ["a", 0.5, "4"], "same law"),
        (["a", 0.5, "3"], ["a", 0.51, "3"], "same law"),
        (["a"], ["a", "b"], "same law"),
        ([float("nan")], [float("nan")], "same bytes"),
    ],
)
def test_the_level_of_two_answers(one, other, level):
    assert seed_levels.LEVELS[seed_levels.level(one, other)] == level


def test_less_than_promised_is_found(tmp_path, capsys, monkeypatch):
    content = {"environment": {}, "threads": "", "answers": {"mcnemar_test": [0.25], "efficiency_test, drawn": [0.1]}}
    for name, p in (("one", 0.25), ("other", 0.26)):
        content["answers"] = {"mcnemar_test": [p], "efficiency_test, drawn": [p]}
        (tmp_path / name).write_text(json.dumps(content))
    monkeypatch.setattr(sys, "argv", ["seed_levels", "--against", str(tmp_path / "one"), str(tmp_path / "other")])
    assert seed_levels.main() == 1
    said = capsys.readouterr().out
    assert "less than promised: mcnemar_test" in said
    assert "less than promised: efficiency_test" not in said


@pytest.mark.long
def test_numba_and_blas_threads_change_no_byte(tmp_path):
    """The library, and trees that Numba would grow; the page has the studies and other versions."""
    here = seed_levels.answers(lambda name: not name.startswith("study") or name.endswith("trees"))
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    code = (
        "import json, sys; from tools import seed_levels\n"
        "found = seed_levels.answers(lambda name: not name.startswith('study') or name.endswith('trees'))\n"
        "json.dump(found, open(sys.argv[1], 'w'))"
    )
    subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "there.json")],
        cwd=ROOT,
        env={**os.environ, **threads, "NUMBA_DISABLE_JIT": "1"},
        check=True,
    )
    there = json.loads((tmp_path / "there.json").read_text())
    assert [name for name in here if seed_levels.level(here[name], there[name])] == []
