"""What commands refuse: one line, exit code 2, nothing written."""

import importlib

import pytest

from sigstats.flows import commands
from sigstats.flows.commands import main

from ..conftest import QUICK, study_file

STUDY = 'kind = "significance"\n[[tables]]\nname = "t"\ncounts = [[8, 2], [1, 9]]\n'


@pytest.fixture
def finished(tmp_path):
    """The results of a small study."""
    assert main(["run", str(study_file(tmp_path, STUDY)), "--output", str(tmp_path / "out"), "--quiet"]) == 0
    return tmp_path / "out"


def refused(capsys, *arguments):
    """The only line that a command says."""
    capsys.readouterr()
    assert main([str(argument) for argument in arguments]) == 2
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n")) == ("", 1)
    return said.err


@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        ("check", ["nosuch.csv", "--at-least", "0.9"]),
        ("compare", ["nosuch.csv", "nosuch.csv"]),
        ("deploy", ["nosuch.toml", "--output", "out"]),
        ("doctor", ["nosuch.csv"]),
        ("export", ["nosuch", "--to", "out"]),
        ("plan", ["nosuch.toml"]),
        ("prune", ["nosuch", "--keep", "summary"]),
        ("rank", ["nosuch.csv", "nosuch.csv"]),
        ("replay", ["nosuch", "--trial", "0"]),
        ("report", ["nosuch"]),
        ("run", ["nosuch.toml", "--output", "out"]),
        ("schema", ["nosuch"]),
        ("size", ["nosuch.csv", "nosuch.csv"]),
        ("studies", ["nosuch"]),
        ("verify", ["nosuch"]),
        ("warm-up", ["nosuch"]),
    ],
)
def test_a_command_ends_with_exit_code_2_and_writes_nothing(tmp_path, monkeypatch, capsys, command, arguments):
    monkeypatch.chdir(tmp_path)
    try:
        code = main([command, *arguments])
    except SystemExit as ended:
        code = ended.code
    said = capsys.readouterr()
    assert (code, said.out) == (2, "")
    last = said.err.splitlines()[-1]
    assert last.startswith("sigstats")
    assert "nosuch" in last
    assert list(tmp_path.iterdir()) == []


def test_every_command_is_tested():
    (mark,) = (mark for mark in test_a_command_ends_with_exit_code_2_and_writes_nothing.pytestmark if mark.args)
    assert [command for command, _ in mark.args[1]] == list(commands.REGISTRY.names())


def test_a_plan_refuses_the_output_that_the_run_would_refuse(finished, tmp_path, capsys):
    said = refused(
        capsys, "plan", study_file(tmp_path, STUDY), "--set", "tables.0.counts=[[8,2],[1,8]]", "--output", finished
    )
    assert "contains another study: study.tables is" in said
    nightly = study_file(tmp_path, 'kind = "regression"\nbaseline = "p.csv"\ncandidate = "q.csv"\n', "nightly.toml")
    for name in "pq":
        (tmp_path / f"{name}.csv").write_text("id,label,prediction\n1,a,a\n2,b,a\n")
    said = refused(capsys, "plan", nightly, "--output", finished)
    assert "contains another study: kind is 'significance' there and 'regression' here" in said


def test_options_of_studies_that_exclude_each_other_are_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    said = refused(capsys, "studies", "quickstart", "--fetch", "regression")
    assert "NAME: quickstart is not valid with --fetch regression; use one of them" in said
    assert list(tmp_path.iterdir()) == []


def test_a_report_of_what_is_no_study_is_refused(finished, capsys):
    for output in (finished / "report.html", finished / "replicates", "nosuch://x", "", "memory://nothing"):
        assert refused(capsys, "report", output).startswith("sigstats: OUTPUT: ")


def test_a_report_of_an_unfinished_study_says_how_many_computations_are_missing(tmp_path, printed):
    study = study_file(tmp_path, STUDY + '[[tables]]\nname = "u"\ncounts = [[7, 3], [2, 8]]\n')
    assert main(["run", str(study), "--output", str(tmp_path / "out"), "--part", "1/2"]) == 0
    first, last = printed("report", tmp_path / "out").splitlines()
    assert first.startswith("not complete: Run this study again: sigstats run STUDY --output OUTPUT")
    assert last == f"report: {tmp_path}/out/report.html"


def test_a_report_from_storage_whose_package_is_missing_is_refused(monkeypatch, capsys):
    def missing(protocol):
        raise ImportError(f"Install a package to access {protocol}")

    monkeypatch.setattr(importlib.import_module("sigstats.flows.running.options"), "get_filesystem_class", missing)
    assert "a package is missing (Install a package to access s3)" in refused(capsys, "report", "s3://bucket/study")


@pytest.mark.parametrize("name", ["summary.parquet", "report.html"])
def test_a_report_that_cannot_be_written_is_one_line(finished, capsys, name):
    (finished / name).unlink()
    (finished / name).mkdir()  # no user may replace a folder by a file, whatever the permissions
    assert "cannot be read or written" in refused(capsys, "report", finished)


@pytest.mark.parametrize("workers", [-2, 0])
def test_fewer_than_one_worker_are_refused(tmp_path, capsys, workers):
    output = tmp_path / "out"
    said = refused(capsys, "run", study_file(tmp_path, QUICK), "--output", output, "--workers", workers)
    assert said == f"sigstats: --workers: {workers} is not valid; expected 1 or more\n"
    assert not output.exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["comapre", "a", "b"], "sigstats: 'comapre' is not a command; did you mean 'compare'?"),
        (
            ["compare", "a", "b", "--sclice", "x"],
            "sigstats compare: '--sclice' is not an argument (did you mean '--slice'?)",
        ),
        (
            ["compare", "a", "b", "--sclice=x"],
            "sigstats compare: '--sclice' is not an argument (did you mean '--slice'?)",
        ),
        (["compare"], "sigstats compare: the following arguments are required: BASELINE, CANDIDATE"),
        (["run", "quickstart", "\x1b[2J"], "sigstats run: '\\x1b[2J' is not an argument"),
        (["compare", "a", "b", "--margin", "-x"], "sigstats compare: --margin: has no value"),
        (
            ["compare", "a", "b", "--alpha", "x"],
            "sigstats compare: --alpha: 'x' is not valid; expected a number, as in 0.05",
        ),
        (
            ["size", "--accuracy", "x"],
            "sigstats size: --accuracy: 'x' is not valid; expected a number, as in 0.05",
        ),
    ],
)
def test_wrong_arguments_get_one_line_and_what_would_be_right(capsys, arguments, said):
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    command, _, _ = said.partition(":")
    assert capsys.readouterr().err == f"{said} (see {command} --help)\n"
