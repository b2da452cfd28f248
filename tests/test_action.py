"""The GitHub Action: its steps are run by hand, in an environment such as GitHub's."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

EVENT = {"github.token": "secret", "github.repository": "someone/models", "github.event.pull_request.number": "7"}


def action(repository):
    return yaml.safe_load((repository / "action.yml").read_text())


def run_action(repository, folder, **inputs):
    """The exit code of the last step, its outputs, the summary and what `gh` was asked."""
    described = action(repository)
    values = {f"inputs.{name}": about.get("default", "") for name, about in described["inputs"].items()}
    values |= {f"inputs.{name}": value for name, value in inputs.items()} | EVENT
    (folder / "bin").mkdir(exist_ok=True)
    gh = folder / "bin" / "gh"
    gh.write_text(f'#!/bin/sh\nprintf "%s\\n" "$GH_REPO" "$@" > {folder}/asked\ncp "$5" {folder}/comment\n')
    gh.chmod(0o755)
    path = f"{folder / 'bin'}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    outputs, code = {}, 0
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
        code = done.returncode
        if (folder / "output").exists():
            outputs = dict(line.split("=", 1) for line in (folder / "output").read_text().splitlines())
        if code:
            break
    return code, outputs


@pytest.fixture
def files(tmp_path):
    (tmp_path / "a b").mkdir()
    for name, wrong in (("base", 5), ("cand", 2)):
        rows = [f"{i},1,{int(i % wrong > 0)},{'ns'[i % 2]}" for i in range(200)]
        (tmp_path / "a b" / f"{name}.csv").write_text("\n".join(["id,label,prediction,region", *rows]) + "\n")
    return [str(tmp_path / "a b" / f"{name}.csv") for name in ("base", "cand")]


@pytest.mark.processes
def test_a_regression_is_commented_on_and_ends_the_job_with_its_code(repository, tmp_path, files):
    code, outputs = run_action(
        repository, tmp_path, baseline=files[0], candidate=files[1], arguments="--slice\nregion\n"
    )
    assert (code, outputs["exit-code"]) == (1, "1")
    assert (tmp_path / "asked").read_text().splitlines()[:4] == ["someone/models", "pr", "comment", "7"]
    comment = (tmp_path / "comment").read_text()
    assert comment == (tmp_path / "summary").read_text()
    assert comment.startswith("### FAIL: regression")
    assert "region = n" in comment
    assert json.loads(Path(outputs["json"]).read_text())["verdict"] == "fail"


@pytest.mark.processes
def test_files_that_do_not_fit_are_said_and_nothing_is_run_from_an_input(repository, tmp_path, files):
    trap = f"$(touch {tmp_path}/trap)"
    code, outputs = run_action(
        repository, tmp_path, baseline=files[0], candidate=trap, arguments=f"--id\n{trap}", comment="false"
    )
    assert (code, outputs["exit-code"]) == (2, "2")
    assert "ended with exit code 2" in (tmp_path / "summary").read_text()
    assert not (tmp_path / "trap").exists()
    assert not (tmp_path / "asked").exists()


def test_no_step_has_an_input_in_its_script(repository):
    """An expression in a script would be run by the shell."""
    for step in action(repository)["runs"]["steps"]:
        assert "${{" not in step["run"]
        assert step["shell"] == "bash"
