"""Sixty nights of a gate whose feed is as feeds are: each kind of night has one stated outcome."""

import datetime as dt
import shutil
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

from sigstats.flows.commands import main
from sigstats.flows.regression import evaluate

from ..conftest import study_file
from ..predictions import STUDY, write

pytestmark = pytest.mark.long

FIRST = dt.datetime(2026, 1, 2, tzinfo=dt.UTC)
GOOD, WORSE = 0.09, 0.42
LATE, REPLACED = "never evaluated, although later ones were: ", "replaced after they were evaluated: "

#: Of each kind of night: what arrives as (nights ago, share of wrong rows or the night whose file is copied), the exit
#: code, the nights whose files are compared, and what is said.
KINDS = {
    "good": ([(0, GOOD)], 0, [0], ""),
    "worse": ([(0, WORSE)], 1, [0], "FAIL"),
    "missing": ([], 0, [], "nothing new: these files were compared"),
    "missing after a failure": ([], 1, [], "nothing new: still failing since"),
    "missing for the second time": ([], 2, [], "more than 36h ago; expected a newer file"),
    "late with tonight's": ([(1, GOOD), (0, GOOD)], 0, [1, 0], "caught up: "),
    "late and worse with tonight's": ([(1, WORSE), (0, GOOD)], 1, [1, 0], "FAIL"),
    "two late with tonight's": ([(2, GOOD), (1, GOOD), (0, GOOD)], 0, [2, 1, 0], "caught up: "),
    "skipping the night before": ([(0, GOOD)], 0, [0], ""),
    "late after a later one": ([(2, WORSE), (0, GOOD)], 0, [0], LATE),
    "backfilled before the first": ([(100, WORSE), (0, GOOD)], 0, [0], ""),
    "a copy of the night before": ([(0, 1)], 0, [], "nothing new: these files were compared"),
    "good after a copy": ([(0, GOOD)], 0, [0], ""),
    "corrected, without tonight's": ([(1, GOOD)], 0, [1], ""),
    "corrected to worse, without tonight's": ([(1, WORSE)], 1, [1], "FAIL"),
    "corrected with tonight's": ([(1, GOOD), (0, GOOD)], 0, [0], REPLACED),
    "corrected to worse with tonight's": ([(1, WORSE), (0, GOOD)], 0, [0], REPLACED),
    "back to what it was, with tonight's": ([(1, 2), (0, GOOD)], 0, [0], ""),
}
WEEKS = [
    ["good", "good", "worse", "missing after a failure", "good", "good", "missing", "late with tonight's", "good"],
    ["missing", "late and worse with tonight's", "good", "missing", "missing for the second time"],
    ["two late with tonight's", "good", "a copy of the night before", "good after a copy", "good"],
    ["backfilled before the first", "good", "missing", "skipping the night before", "late after a later one", "good"],
    ["missing", "corrected, without tonight's", "good", "missing", "corrected to worse, without tonight's"],
    ["good", "corrected with tonight's", "corrected to worse with tonight's", "good", "good", "worse", "good"],
    ["a copy of the night before", "good after a copy", "back to what it was, with tonight's", "missing"],
    ["missing for the second time", "missing for the second time", "good", "worse", "worse", "good", "good", "missing"],
    ["late with tonight's", "good", "corrected with tonight's", "worse", "missing after a failure", "good", "good"],
    ["missing", "late with tonight's", "good", "good"],
]
NIGHTS = [kind for week in WEEKS for kind in week]


def test_each_night_has_its_outcome(tmp_path, monkeypatch, capsys):
    assert len(NIGHTS) == 60
    assert {*NIGHTS} == KINDS.keys()
    now = FIRST

    class Clock(dt.datetime):
        @classmethod
        def now(cls, tz=None):
            return now

    monkeypatch.setattr(evaluate, "dt", SimpleNamespace(datetime=Clock, UTC=dt.UTC))
    text = STUDY.replace('measures = ["accuracy", "macro-f1"]\nslices = ["region"]', 'measures = ["accuracy"]')
    study = study_file(tmp_path, text.replace("[rule]", '[newest]\nby = "time"\nmax_age = "36h"\n\n[rule]'))
    write(tmp_path / "predictions/production.csv", wrong=0.12, n=300)

    def file(night):
        return tmp_path / f"predictions/candidate-{FIRST + dt.timedelta(days=night):%Y-%m-%d}.csv"

    for night, kind in enumerate(NIGHTS):
        now = FIRST + dt.timedelta(days=night, hours=6)
        arrives, code, compared, said = KINDS[kind]
        for ago, what in arrives:
            if isinstance(what, int):
                shutil.copy(file(night - what), file(night - ago))
            else:
                write(file(night - ago), wrong=what, n=300, seed=1000 * night + ago)
        seen = main(["run", str(study), "--output", str(tmp_path / "out")])
        captured = capsys.readouterr()
        told = captured.out + captured.err
        history = pd.read_parquet(tmp_path / "out/history").drop_duplicates("evaluation")
        files = {Path(name) for name in history["candidate"][history["evaluated_at"] == now]}
        assert (seen, files) == (code, {file(night - ago) for ago in compared}), (night, kind, told)
        assert said in told, (night, kind, told)
        if not said:
            assert "caught up" not in told, (night, kind)
