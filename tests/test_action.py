"""The GitHub Action: its steps are run by hand, in an environment such as GitHub's."""

import ast
import contextlib
import importlib.metadata
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.utils import canonicalize_name

FAKE_GH = """#!/bin/sh
# Lists the comment that was posted before, and keeps what is posted or edited.
cd "$HOME" && echo "$@" >> asked
case "$*" in
  *"--method POST"*) echo 41 > posted ;;
  *"--method PATCH"*) ;;
  *) if [ -f posted ]; then cat posted; fi; exit 0 ;;
esac
for last; do :; done
cp "${last#body=@}" comment
"""
EVENT = {"github.token": "secret", "github.repository": "someone/models", "github.event.pull_request.number": "7"}


def action(repository):
    return yaml.safe_load((repository / "action.yml").read_text())


def run_action(repository, folder, **inputs):
    """The exit code of the last step, the outputs and what was printed; `gh` keeps what it was asked."""
    described = action(repository)
    values = {f"inputs.{name}": about.get("default", "") for name, about in described["inputs"].items()}
    values |= {f"inputs.{name}": value for name, value in inputs.items()} | EVENT
    (folder / "bin").mkdir(exist_ok=True)
    gh = folder / "bin" / "gh"
    gh.write_text(FAKE_GH)
    gh.chmod(0o755)
    path = f"{folder / 'bin'}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    outputs, code, printed = {}, 0, ""
    for step in described["runs"]["steps"]:
        if step["name"] == "Install" or (step["name"] == "Comment" and inputs.get("comment") == "false"):
            continue
        known = values | {f"steps.compare.outputs.{name}": value for name, value in outputs.items()}
        environment = {
            name: re.sub(r"\$\{\{ (.*?) \}\}", lambda found: known[found[1]], text)
            for name, text in step["env"].items()
        }
        files = {"GITHUB_OUTPUT": folder / "output", "GITHUB_STEP_SUMMARY": folder / "summary", "RUNNER_TEMP": folder}
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            env={"PATH": path, "HOME": str(folder), **environment, **{name: str(file) for name, file in files.items()}},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        code, printed = done.returncode, printed + done.stdout + done.stderr
        if (folder / "output").exists():
            outputs = dict(line.split("=", 1) for line in (folder / "output").read_text().splitlines())
        if code:
            break
    return code, outputs, printed


@pytest.fixture
def files(tmp_path):
    (tmp_path / "a b").mkdir()
    for name, wrong in (("base", 5), ("cand", 2)):
        rows = [f"{i},1,{int(i % wrong > 0)},{'ns'[i % 2]}" for i in range(200)]
        (tmp_path / "a b" / f"{name}.csv").write_text("\n".join(["id,label,prediction,region", *rows]) + "\n")
    return [str(tmp_path / "a b" / f"{name}.csv") for name in ("base", "cand")]


@pytest.mark.long
@pytest.mark.processes
def test_a_regression_is_commented_on_and_ends_the_job_with_its_code(repository, tmp_path, files):
    code, outputs, _ = run_action(
        repository, tmp_path, baseline=files[0], candidate=files[1], arguments="--slice\nregion\n"
    )
    assert (code, outputs["exit-code"]) == (1, "1")
    asked = (tmp_path / "asked").read_text().splitlines()
    assert len(asked) == 2
    assert "--method POST repos/someone/models/issues/7/comments" in asked[1]
    marker, comment = (tmp_path / "comment").read_text().split("\n", 1)
    assert marker.startswith("<!-- sigstats compare")
    assert comment == (tmp_path / "summary").read_text()
    assert comment.startswith(
        "### FAIL: accuracy on region = n fell by 80.00 points (71.12 to 86.66); 1 other test fails\n\nKeep the "
    )
    assert "region = n" in comment
    assert json.loads(Path(outputs["json"]).read_text())["verdict"] == "fail"


@pytest.mark.long
@pytest.mark.processes
def test_files_that_do_not_fit_are_said_and_nothing_is_run_from_an_input(repository, tmp_path, files):
    trap = f"$(touch {tmp_path}/trap)"
    code, outputs, _ = run_action(
        repository, tmp_path, baseline=files[0], candidate=trap, arguments=f"--id\n{trap}", comment="false"
    )
    assert (code, outputs["exit-code"]) == (2, "2")
    assert "ended with exit code 2" in (tmp_path / "summary").read_text()
    assert not (tmp_path / "trap").exists()
    assert not (tmp_path / "asked").exists()


@pytest.mark.long
@pytest.mark.processes
def test_a_pull_request_has_one_comment_which_is_edited(repository, tmp_path, files):
    for _ in range(2):
        run_action(repository, tmp_path, baseline=files[0], candidate=files[1], arguments="--slice region")
        assert "region = n" in (tmp_path / "comment").read_text()
    asked = (tmp_path / "asked").read_text()
    assert asked.count("--method POST") == 1
    assert asked.count("--method PATCH repos/someone/models/issues/comments/41") == 1


@pytest.mark.long
@pytest.mark.processes
@pytest.mark.parametrize("arguments", ["--slice 'the region'", "--slice\n'the region'\n"])
def test_arguments_are_split_as_by_a_shell(repository, tmp_path, files, arguments):
    for file in map(Path, files):
        file.write_text(file.read_text().replace("region", "the region"))
    _, outputs, _ = run_action(
        repository, tmp_path, baseline=files[0], candidate=files[1], arguments=arguments, comment="false"
    )
    rows = json.loads(Path(outputs["json"]).read_text())["rows"]
    assert any("the region" in row["slice"] for row in rows)


@pytest.mark.processes
def test_an_open_quotation_is_refused(repository, tmp_path, files):
    code, _, printed = run_action(
        repository, tmp_path, baseline=files[0], candidate=files[1], arguments="--slice 'region", comment="false"
    )
    assert code == 2
    assert "a quotation mark is not closed" in printed


@pytest.mark.long
@pytest.mark.processes
def test_nothing_of_data_is_a_command_of_the_workflow(repository, tmp_path, files):
    """What is printed of the data stands between the line that stops commands and the random word that resumes them."""
    for file in map(Path, files):
        file.write_text(re.sub(r",n$", ",::error::n ##[error]", file.read_text(), flags=re.MULTILINE))
    words = set()
    for arguments in ("--slice region", "--slice ::error::none"):
        _, _, printed = run_action(
            repository, tmp_path, baseline=files[0], candidate=files[1], arguments=arguments, comment="false"
        )
        before, word, within, after = re.fullmatch(
            r"(.*)^::stop-commands::([0-9a-f]{64})$(.*)^::\2::$(.*)", printed, flags=re.MULTILINE | re.DOTALL
        ).groups()
        assert "error" in within
        assert "error" not in before + after
        words.add(word)
    assert len(words) == 2


def test_the_commit_of_the_action_is_installed_and_no_name_of_an_index(repository):
    (install,) = [step for step in action(repository)["runs"]["steps"] if step["name"] == "Install"]
    assert install["env"] == {"HERE": "${{ github.action_path }}"}
    assert install["run"].endswith('pip install --quiet -- "$HERE"')


def workflows(repository):
    """Our own workflows, and the one of the documents to paste."""
    made = {path.name: path.read_text() for path in sorted((repository / ".github" / "workflows").glob("*.yml"))}
    page = (repository / "docs" / "compare.md").read_text(encoding="utf-8")
    (made["compare.md"],) = re.findall(r"^```yaml\n(name: compare\n.*?)^```$", page, flags=re.MULTILINE | re.DOTALL)
    return made


#: The jobs that publish may do no more than that.
OF_JOBS = {
    ("documents.yml", "host"): {"pages": "write", "id-token": "write"},
    ("release.yml", "publish"): {"id-token": "write", "attestations": "write", "contents": "read"},
}


def test_workflows_pin_actions_by_commit_and_ask_for_little(repository):
    made = workflows(repository)
    assert set(made) == {"compare.md", "documents.yml", "night.yml", "release.yml", "test.yml"}
    for name, text in made.items():
        for used in re.findall(r"uses: (.*)$", text, flags=re.MULTILINE):
            assert re.fullmatch(r"actions/[\w-]+@[0-9a-f]{40}  # v[\d.]+|OWNER/sigstats@COMMIT", used), (name, used)
        described = yaml.safe_load(text)
        comments = {"pull-requests": "write"} if name == "compare.md" else {}
        assert described["permissions"] == {"contents": "read"} | comments
        for job, about in described["jobs"].items():
            assert about.get("permissions") == OF_JOBS.get((name, job))
            assert all("${{" not in step.get("run", "") for step in about["steps"])


def scripts(repository):
    """The commands of all steps of our own workflows."""
    described = [yaml.safe_load(path.read_text()) for path in (repository / ".github" / "workflows").glob("*.yml")]
    jobs = [job for workflow in described for job in workflow["jobs"].values()]
    return [step["run"] for job in jobs for step in job["steps"] if "run" in step]


def test_workflows_make_targets_and_run_files_that_exist(repository):
    makefile = (repository / "Makefile").read_text()
    words = [word for script in scripts(repository) for words in re.findall(r"make ((?:[a-z-]+ ?)+)", script)
             for word in words.split()]  # fmt: skip
    assert {"lint", "types", "layers", "test", "docs", "test-rest"} <= set(words)
    assert [word for word in words if not re.search(rf"^{word}:", makefile, flags=re.MULTILINE)] == []
    files = [word for script in scripts(repository) for word in re.findall(r"(?<!\S)(?:\.ci|tests)/\S+", script)]
    assert len(files) > 1
    assert [name for name in files if not (repository / name).exists()] == []


def installed_by(words):
    """The distributions that pip installs for these words, with all that they require, as in this environment."""
    required = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
    pending = [*required["dependencies"], *(word for word in words if "[" not in word)]
    for extra in re.findall(r"\w+", "".join(re.findall(r"\[(.*?)\]", " ".join(words)))):
        pending += required["optional-dependencies"][extra]
    names = set()
    while pending:
        name = canonicalize_name(re.match(r"[\w.-]+", pending.pop())[0])
        if name not in names:
            names.add(name)
            with contextlib.suppress(importlib.metadata.PackageNotFoundError):
                pending += [line for line in importlib.metadata.requires(name) or () if "extra ==" not in line]
    return names


@pytest.mark.long
def test_the_tests_on_other_systems_have_what_they_import(repository):
    """One missing package ends the collection of all."""
    (words,) = re.findall(r"pip install --editable (.*)", "\n".join(scripts(repository)))
    there = installed_by(shlex.split(words))
    of_modules = importlib.metadata.packages_distributions()
    for path in [repository / "tests" / "conftest.py", *(repository / "tests" / "sigstats").rglob("*.py")]:
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            names = [node.module] if isinstance(node, ast.ImportFrom) and not node.level else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            for module in {name.partition(".")[0] for name in names} - {"sigstats", "tests", "tools"}:
                if module not in sys.stdlib_module_names:
                    assert there.intersection(map(canonicalize_name, of_modules[module])), (path.name, module)


def test_the_workflow_of_the_documents_uses_what_the_action_has(repository):
    text = workflows(repository)["compare.md"]
    (step,) = [each for each in yaml.safe_load(text)["jobs"]["compare"]["steps"] if each.get("id") == "sigstats"]
    described = action(repository)
    needed = {name for name, about in described["inputs"].items() if about.get("required")}
    assert needed <= set(step["with"]) <= set(described["inputs"])
    assert set(re.findall(r"steps\.sigstats\.outputs\.([\w-]+)", text)) <= set(described["outputs"])


def test_no_step_has_an_input_in_its_script(repository):
    """An expression in a script would be run by the shell."""
    for step in action(repository)["runs"]["steps"]:
        assert "${{" not in step["run"]
        assert step["shell"] == "bash"
