"""What the README promises."""

import doctest
import re
import shlex

from sigstats.flows.cli import parser
from sigstats.flows.studies import parse_study


def test_its_examples_run(repository):
    found = doctest.testfile(str(repository / "README.md"), module_relative=False)
    assert found.attempted >= 6
    assert found.failed == 0


def test_its_commands_exist(repository):
    text = (repository / "README.md").read_text()
    commands = re.findall(r"^sigstats (.+?)(?: +[#>].*)?$", text, flags=re.MULTILINE)
    assert len(commands) >= 4
    for command in commands:
        parser().parse_args(shlex.split(command))


def test_its_study_is_a_study(repository):
    import tomllib

    text = (repository / "README.md").read_text()
    (study,) = re.findall(r"```toml\n(.*?)```", text, flags=re.DOTALL)
    assert parse_study(tomllib.loads(study), source="README.md").kind == "benchmark"


def test_its_links_and_folders_exist(repository):
    text = (repository / "README.md").read_text()
    links = re.findall(r"\]\(([^)#]+)\)", text)
    folders = re.findall(r"^\| `(\w+/)` \|", text, flags=re.MULTILINE)
    assert len(links) >= 4
    assert len(folders) == 8
    for path in [*links, *folders]:
        assert (repository / path).exists(), path


def test_its_make_targets_exist(repository):
    makefile = (repository / "Makefile").read_text()
    for target in re.findall(r"^make (\w+)", (repository / "README.md").read_text(), flags=re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE), target
