"""A cell that takes too long has failed; the others go on, and the next run goes on with it."""

from pathlib import Path

from sigstats.flows.running import cells
from sigstats.flows.running.kind import find_study, kind_of
from sigstats.flows.running.options import RunOptions
from sigstats.tasks.engine.execute import Interrupted, run_cell

PAIR = {"a": "old", "b": "new", "counts_a": [3, 9]}
STUDY = {
    "kind": "significance",
    "samples": [{**PAIR, "name": f"pair {number}", "counts_b": [7, number]} for number in range(3)],
}


def run(folder, **options):
    study, base = find_study(STUDY, [])
    return kind_of(study).run(study, RunOptions(base=Path(base), output=str(folder), **options))


def test_it_counts_as_failed_until_it_is_complete(tmp_path, monkeypatch):
    def slow(cell, *rest, stop, **options):
        if cell.subject["dataset"] != "pair 1":
            return run_cell(cell, *rest, stop=stop, **options)
        while not stop.is_set():
            stop.wait(0.01)
        raise Interrupted

    monkeypatch.setattr(cells, "run_cell", slow)
    first = run(tmp_path, cell_timeout=0.5)
    (failed,) = first.failed
    assert failed.cell.subject["dataset"] == "pair 1"
    assert [(each.error, each.message) for each in failed.failures] == [
        ("TimeoutError", "it is not complete after 0.5 s")
    ]
    assert first.code == 3
    monkeypatch.setattr(cells, "run_cell", run_cell)
    second = run(tmp_path, cell_timeout=600.0)
    assert (second.code, second.failed, len(second.rows)) == (0, (), 3)
