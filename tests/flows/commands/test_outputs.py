"""An output that is an input or another output is refused before anything is read, however it is spelt."""

import json
import os
import stat
import subprocess
import sys
import threading

import pytest

from sigstats.flows.commands import main

from ..conftest import environment

TEXT = "id,label,prediction\n" + "".join(f"{row},{row % 2},{row % 2}\n" for row in range(40))
REPORTS = ("html", "md", "xml")


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "a.csv").write_text(TEXT)
    (tmp_path / "b.csv").write_text(TEXT.replace(",0,0", ",0,1", 1))
    (tmp_path / "link.csv").symlink_to("a.csv")
    os.link("b.csv", "hard.csv")
    (tmp_path / "linked").symlink_to("folder")
    (tmp_path / "dangling.md").symlink_to("folder/new.md")
    return tmp_path


@pytest.mark.parametrize("place", ["a.csv", "./folder/../a.csv", "link.csv", "hard.csv", "{}/b.csv"])
def test_an_input_is_never_written_over(here, refused, place):
    spelt = place.format(here)
    said = refused("compare", "a.csv", "b.csv", "--json", spelt)
    assert said == f"sigstats: --json: {spelt!r} is also an input; name a separate file\n"
    assert (here / "a.csv").read_text() == TEXT


def test_nor_by_a_report(here, refused):
    (here / "b.md").write_text((here / "b.csv").read_text())
    assert "--report: 'b.md' is also an input" in refused("compare", "a.csv", "b.md", "--report", "b.md")


@pytest.mark.parametrize(
    ("command", "endings"), [("compare", "html .md .xml"), ("check", "md .xml"), ("rank", "html .md")]
)
@pytest.mark.parametrize("place", ["page", "-", "page.pdf"])
def test_an_ending_that_names_no_report_is_refused(here, capsys, command, endings, place):
    files = ("a.csv", "--at-least", "0.5") if command == "check" else ("a.csv", "b.csv")
    assert main([command, *files, "--report", place]) == 2
    wanted = endings.replace(" ", " or ")
    said = f"sigstats: --report: {place!r} is not valid; expected a file that ends in .{wanted}\n"
    assert capsys.readouterr() == ("", said)


@pytest.mark.parametrize(
    "inputs", [["folder"], ["folder/*.csv"], ["file://{}/folder/c.csv"], ["b.csv", "folder/c.csv"]]
)
@pytest.mark.parametrize("command", ["compare", "rank"])
def test_nor_is_one_of_a_folder_or_of_several(here, refused, command, inputs):
    (here / "folder" / "c.csv").write_text(TEXT)
    places = [place.format(here) for place in inputs]
    assert "'folder/c.csv' is also an input" in refused(command, "a.csv", *places, "--json", "folder/c.csv")


@pytest.mark.parametrize(
    ("one", "other"),
    [("x.md", "x.md"), ("folder/x.md", "linked/x.md"), ("dangling.md", "linked/new.md"), ("x.md", "./folder/../x.md")],
)
@pytest.mark.parametrize("command", ["compare", "rank"])
def test_nor_is_another_output(here, capsys, command, one, other):
    assert main([command, "a.csv", "b.csv", "--json", one, "--report", other]) == 2
    said = capsys.readouterr()
    assert "is also the output of --json; name a separate file" in said.err
    assert said.out == ""
    assert not (here / "folder" / "x.md").exists()


def test_outputs_of_their_own_are_written_and_none_may_be_wanted(here):
    reports = [part for ending in REPORTS for part in ("--report", f"x.{ending}")]
    assert main(["compare", "a.csv", "b.csv", "--json", "x.json", *reports]) == 0
    assert main(["compare", "a.csv", "b.csv", "--json", "x.json"]) == 0  # and over an earlier one
    assert main(["compare", "a.csv", "b.csv", "--json", "/dev/null"]) == 0
    assert all((here / f"x.{ending}").stat().st_size for ending in REPORTS)


@pytest.mark.parametrize(
    ("output", "reason"),
    [
        ("study.toml", "is a file; give a folder or an fsspec URL"),
        ("reference://", "cannot be opened"),
        ("zip://", "cannot be opened"),
        ("nothing://a", "expected a protocol of fsspec, not 'nothing'"),
    ],
)
def test_what_cannot_hold_a_study_is_refused_in_one_line(here, refused, output, reason):
    (here / "study.toml").write_text('kind = "benchmark"\nclassifiers = ["1-nn"]\ndatasets = ["iris"]\n')
    said = refused("run", "study.toml", "--output", output)
    assert reason in said
    assert said.count("\n") == 1
    assert said.startswith(f"sigstats: --output: {output!r} ")


#: The program, which can write no file of more than so many bytes.
_SMALL = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (300, 300))
from sigstats.flows.commands import main
sys.exit(main())
"""


@pytest.mark.long
@pytest.mark.processes
def test_a_file_that_cannot_be_written_whole_stays_as_it_was(here):
    (here / "old.json").write_text("as it was")
    arguments = [sys.executable, "-B", "-c", _SMALL, "compare", "a.csv", "b.csv", "--json", "old.json"]
    before = sorted(path.name for path in here.iterdir())
    done = subprocess.run(arguments, cwd=here, env=environment(), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, "sigstats: old.json: cannot be written (File too large)\n")
    assert (here / "old.json").read_text() == "as it was"
    assert sorted(path.name for path in here.iterdir()) == before


def test_links_modes_and_pipes_are_kept(here):
    (here / "file.json").write_text("old")
    (here / "file.json").chmod(0o640)
    (here / "to.json").symlink_to("file.json")
    assert main(["compare", "a.csv", "b.csv", "--json", "to.json"]) in (0, 1)
    assert (here / "to.json").is_symlink()
    assert json.loads((here / "file.json").read_text())
    assert stat.S_IMODE((here / "file.json").stat().st_mode) == 0o640
    os.mkfifo(here / "pipe")
    read = []
    reader = threading.Thread(target=lambda: read.append((here / "pipe").read_text()))
    reader.start()
    assert main(["compare", "a.csv", "b.csv", "--json", "pipe"]) in (0, 1)
    reader.join()
    assert read == [(here / "file.json").read_text()]


@pytest.mark.parametrize(
    ("command", "ending"),
    [
        ("compare a.csv b.csv", "html"),
        ("check a.csv --at-least 0.5", "xml"),
        ("rank a.csv b.csv", "html"),
    ],
)
@pytest.mark.parametrize(("place", "why"), [("nowhere/x", "No such file or directory"), ("folder", "Is a directory")])
def test_an_output_that_cannot_be_a_file_leaves_the_others_unwritten(here, refused, command, ending, place, why):
    place = f"{place}.{ending}"
    if place.startswith("folder"):
        (here / place).mkdir()
    before = sorted(here.iterdir())
    assert (
        refused(*command.split(), "--json", "x.json", "--report", place)
        == f"sigstats: {place}: cannot be written ({why})\n"
    )
    assert sorted(here.iterdir()) == before


@pytest.mark.long
def test_verify_names_an_output_that_cannot_be_written(here, refused):
    assert (
        refused("verify", "--json", "nowhere/x.json")
        == "sigstats: nowhere/x.json: cannot be written (No such file or directory)\n"
    )
