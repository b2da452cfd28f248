"""A finished study is seen to be finished by the bytes that its run left; whatever differs is made again."""

import pytest

from sigstats.flows.running import output as finished
from sigstats.flows.running.kind import kind_of, parse_study
from sigstats.flows.running.options import RunOptions

STUDY = {
    "kind": "significance",
    "name": "finished",
    "resamples": 99,
    "tables": [{"name": "t", "counts": [[9, 7], [3, 8]], "methods": ["exact", "monte-carlo"]}],
}


def run(output, **more):
    study = parse_study({**STUDY, **more}, source="study")
    return kind_of(study).run(study, RunOptions(base=output, output=str(output)))


def content(output):
    return {path: path.read_bytes() for path in output.rglob("*") if path.is_file() and "receipts" not in path.parts}


@pytest.fixture
def written(monkeypatch):
    """The files that runs write."""
    seen, write = [], finished.Store(".").files.__class__.write

    def noted(files, name, content):
        seen.append(name)
        write(files, name, content)

    monkeypatch.setattr(finished.Store(".").files.__class__, "write", noted)
    return seen


def test_a_finished_study_writes_nothing_and_says_the_same(tmp_path, written):
    first, left = run(tmp_path / "out"), content(tmp_path / "out")
    written.clear()
    second = run(tmp_path / "out")
    assert not written
    assert content(tmp_path / "out") == left
    assert (second.rows, second.replicates, second.report) == (first.rows, first.replicates, first.report)
    assert (second.code, second.engines, second.title) == (0, frozenset(), first.title)


@pytest.mark.long
@pytest.mark.parametrize("name", ["study.json", "plan", "summary", "report.html", "replicates", "finished.json"])
@pytest.mark.parametrize("harm", [lambda path: path.unlink(), lambda path: path.write_bytes(path.read_bytes()[:-9])])
def test_what_was_lost_or_cut_is_made_again(tmp_path, name, harm):
    run(tmp_path / "out")
    left = content(tmp_path / "out")
    for path in left:
        if name in str(path.relative_to(tmp_path)):
            harm(path)
    assert content(tmp_path / "out") != left
    run(tmp_path / "out")
    assert content(tmp_path / "out") == left


def test_other_words_or_other_code_are_reported_anew(tmp_path, written, monkeypatch):
    run(tmp_path / "out")
    for change in ({"alpha": 0.01}, {"name": "renamed", "alpha": 0.01}):
        written.clear()
        run(tmp_path / "out", **change)
        assert "report.html" in written
    monkeypatch.setattr(finished, "all_code", lambda: "other")
    written.clear()
    run(tmp_path / "out", name="renamed", alpha=0.01)
    assert "report.html" in written


def test_what_failed_is_tried_again(tmp_path, monkeypatch):
    with monkeypatch.context() as broken:
        broken.setattr("sigstats.tasks.statistical_tests.efficiency.random_number_correct", lambda *a, **b: 1 / 0)
        assert run(tmp_path / "out").code == 3
    assert not (tmp_path / "out" / "finished.json").exists()
    assert run(tmp_path / "out").code == 0


def test_a_mark_that_cannot_be_written_fails_no_run(tmp_path):
    (tmp_path / "out" / "finished.json").mkdir(parents=True)
    assert run(tmp_path / "out").code == 0
    assert run(tmp_path / "out").code == 0
