"""A shell that has read the script completes commands, options, choices and files."""

import shutil
import subprocess

import pytest

from sigstats.flows.cli import main
from sigstats.flows.commands import GROUPS, REGISTRY, parser
from tests.programs import needs

#: What bash asks when somebody presses Tab after the last of the words.
ASK = """
source "$1"; shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
"$(complete -p sigstats | sed -E 's/.* -F ([^ ]+) .*/\\1/')"
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["comp"], {"compare", "completion"}),
        (["compare", "--sl"], {"--slice"}),
        (["compare", "--unmatched", "d"], {"drop"}),
        (["report", "tab"], {"table.csv"}),
        (["run", "quick"], {"quickstart"}),
        (["run", "tab"], {"table.csv"}),
        (["compare", "a.csv", "b.csv", "--measure", "macro-f"], {"macro-f1"}),
        (["compare", "a.csv", "b.csv", "--adjust", "h"], {"holm"}),
        (["verify", "--only", ""], {"digits", "levels", "bytes"}),
    ],
)
@needs(shutil.which("bash"), "bash")
def test_bash_completes(tmp_path, capsys, words, offered):
    assert main(["completion", "bash"]) == 0
    (tmp_path / "script").write_text(capsys.readouterr().out)
    (tmp_path / "table.csv").touch()
    done = subprocess.run(
        ["bash", "-c", ASK, "bash", "./script", "sigstats", *words],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert set(done.stdout.split()) == offered


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_have_a_script_with_each_command(capsys, shell):
    assert main(["completion", shell]) == 0
    said = capsys.readouterr().out
    assert all(name in said for name in REGISTRY.names())


def test_the_help_lists_each_command_once_under_its_heading():
    lines = parser().format_help().splitlines()
    headings = [line.removesuffix(":") for line in lines if line and not line.startswith((" ", "usage"))]
    assert [each for each in headings if each in GROUPS] == list(GROUPS)
    listed = [line.split()[0] for line in lines if line.startswith("  ") and line[2:3].isalpha()]
    assert sorted(listed) == sorted(REGISTRY.names())
