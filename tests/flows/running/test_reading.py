"""Reading what comes in: shown while it lasts, and stopped when the run is."""

import json
import re
import threading
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sigstats.flows.clusters import load_cluster
from sigstats.flows.running import progress
from sigstats.flows.running.kind import kind_of, load_study
from sigstats.flows.running.options import RunOptions
from sigstats.flows.running.progress import Display
from sigstats.tasks.engine.execute import Interrupted

from ..conftest import study_file

STUDY = """\
kind = "calibration"
sizes = [40]
trials = 10

[[populations]]
name = "rows"
source = "{source}"
path = "data"
{more}

[[tests]]
test = "{test}"
"""
SOURCES = {
    "parquet": {"source": "parquet", "more": "", "test": "mcnemar"},
    "scores": {"source": "scores", "more": "positive = 1", "test": "scores"},
}


@pytest.fixture(params=list(SOURCES))
def study(request, tmp_path):
    (tmp_path / "data").mkdir()
    rng = np.random.default_rng(1)
    for part in range(4):
        columns = {name: rng.integers(0, 2, 100) for name in ("label", "pred_a", "pred_b")}
        columns |= {name: rng.random(100) for name in ("score_a", "score_b")}
        pq.write_table(pa.table(columns), tmp_path / "data" / f"{part}.parquet")
    return study_file(tmp_path, STUDY.format(**SOURCES[request.param]))


def run(path, output, display, stop):
    study, serial = load_study(path, []), load_cluster("serial")
    options = RunOptions(base=path.parent, output=str(output), cluster=serial, display=display, stop=stop)
    return kind_of(study).run(study, options)


@pytest.mark.long
def test_it_is_told_file_by_file(study, tmp_path, capsys):
    run(study, tmp_path / "out", Display(every=0, log_format="json"), threading.Event())
    events = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    told = [(event["what"], event["done"], event["total"]) for event in events if event["event"] == "reading"]
    footers = [event for event in told if event[0] == "footers of rows"]
    looked_first = "parquet" in study.read_text()  # scores are read at once
    assert footers == [("footers of rows", done, 4) for done in range(4) if looked_first]
    assert [event for event in told if event not in footers][:4] == [("rows", done, 4) for done in range(4)]


def test_a_person_sees_how_far_it_is_and_how_long_it_takes(study, tmp_path, capsys):
    run(study, tmp_path / "out", Display(every=0), threading.Event())
    said = capsys.readouterr().err
    assert "  reading rows: 0/4\n" in said
    assert re.search(r"^  reading rows: 2/4, about \d+\.\d s left$", said, re.MULTILINE)


def test_a_run_that_is_stopped_reads_no_further_and_writes_nothing(study, tmp_path):
    stop = threading.Event()

    class Stopping(Display):
        def event(self, event, **fields):
            if event == "reading" and fields["done"] == 1:
                stop.set()

    with pytest.raises(Interrupted):
        run(study, tmp_path / "out", Stopping(every=0, log_format="json"), stop)
    assert not (tmp_path / "out").exists()


def test_what_takes_long_has_a_word_and_what_does_not_has_none(capsys, monkeypatch):
    display = Display()
    with display.patience("a trifle"):
        pass
    monkeypatch.setattr(progress, "PATIENCE_SECONDS", 0.0)
    with display.patience("summarising 12 computations"):
        deadline = time.monotonic() + 30
        said = ""
        while not said and time.monotonic() < deadline:
            said = capsys.readouterr().err
    assert said == "  summarising 12 computations\n"
