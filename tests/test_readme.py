"""What the README promises: its length, its examples, its commands in order, its links."""

import doctest
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sigstats.flows.config.toml_files import ready_studies

WORDS = 850
LONG = ("make", "pip")
"""A line of these installs: it is not run, but what it names must be there."""
ENDS = re.compile(r"^(sigstats .*?) +# exit code (\d)\b.*$", flags=re.MULTILINE)


@pytest.fixture(scope="module")
def text(repository):
    return (repository / "README.md").read_text(encoding="utf-8")


def blocks(text):
    return re.findall(r"^```sh\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)


def is_long(line):
    return line.split(" ", 1)[0] in LONG


def test_it_is_short(text):
    assert len(text.split()) <= WORDS


def test_its_examples_run(repository):
    found = doctest.testfile(str(repository / "README.md"), module_relative=False)
    assert found.attempted >= 3
    assert found.failed == 0


@pytest.mark.long
@pytest.mark.processes
def test_its_shell_blocks_run_in_order_on_what_the_block_before_made(repository, text, tmp_path):
    """In a folder that has the tools of a checkout alone, with an empty home; other exit codes than 0 are announced."""
    checkout, home = tmp_path / "checkout", tmp_path / "home"
    shutil.copytree(repository / "tools", checkout / "tools")
    home.mkdir()
    environment = {"PATH": f"{Path(sys.executable).parent}:{os.defpath}", "HOME": str(home), "LC_ALL": "C.UTF-8"}
    ran = 0
    for block in blocks(text):
        lines = [line for line in block.splitlines() if not is_long(line)]
        script = ENDS.sub(r"\1 || code=$?; test ${code:-0} = \2", "\n".join(lines))
        done = subprocess.run(
            ["bash", "-e", "-c", script], cwd=checkout, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{script}\n{done.stdout}{done.stderr}"
        ran += bool(lines)
    assert ran == 2
    assert (checkout / "comparison.html").exists()
    assert (checkout / "results" / "study" / "report.html").exists()


def test_what_its_long_lines_name_is_there(repository, text):
    """``make`` a target of the Makefile, ``pip install`` this checkout: a name would be another one's on an index."""
    makefile = (repository / "Makefile").read_text()
    installed = re.findall(r"`(pip install [^`]+)`", text)
    for line in [*(line for block in blocks(text) for line in block.splitlines() if is_long(line)), *installed]:
        program, *arguments = shlex.split(line, comments=True)
        if program == "make":
            assert re.search(rf"^{arguments[0]}:", makefile, flags=re.MULTILINE), line
        else:
            assert arguments[0] == "install"
            assert re.fullmatch(r"\.(\[\w+(,\w+)*\])?", arguments[1]), line
            assert len(arguments) == 2


def test_its_ready_studies_are_there(text):
    named = re.findall(r"^\| \[.*\| (`.*`) \|$", text, flags=re.MULTILINE)
    assert len(named) == 4
    assert {name for row in named for name in re.findall(r"`([\w-]+)`", row)} <= set(ready_studies())


def test_its_links_lead_to_files(repository, text):
    links = re.findall(r"\]\(([^)#]+)\)", text)
    assert len(links) >= 12
    for path in links:
        assert (repository / path).exists(), path
