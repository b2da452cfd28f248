"""A package of somebody else's classifiers that can be imported, and a study that names some of them."""

import shutil
import sys
from pathlib import Path

import pytest

from sigstats.tasks.engine.guarded import end_idle

from ...faults.conftest import record as record  # a fixture of this folder too

PACKAGE = Path(__file__).parent / "netpackage"


@pytest.fixture
def package(tmp_path, monkeypatch):
    """The folder of ``netpackage``; it is a copy, and this process has not imported it."""
    folder = tmp_path / "installed" / "netpackage"
    shutil.copytree(PACKAGE, folder, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.syspath_prepend(folder.parent)
    forget()
    yield folder
    end_idle()
    forget()


def forget():
    """Let the next import of the package read its files."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "netpackage"]:
        del sys.modules[name]


def study_of(folder, classifiers, *, nulls='"labels"', resamples=9):
    """A study of two dozen rows with these lines for its classifiers."""
    rows = "".join(f'"{i % 3 + i / 50} {i * i % 7} {"abc"[i % 3]}", ' for i in range(30))
    path = folder / "study.toml"
    path.write_text(f"""
kind = "benchmark"
classifiers = [{", ".join(classifiers)}]
cross_validation = {{ folds = 2 }}
permutation = {{ nulls = [{nulls}], resamples = {resamples} }}
alpha = 0.2
adjust = "none"
tests = [{'"permutation"' if nulls else '"mcnemar"'}]

[[datasets]]
name = "few"
source = "inline"
rows = [{rows}]
""")
    return path


def named(name, learner="netpackage.models:Unruly", extra="", **params):
    """A line for a classifier."""
    given = ", ".join(f"{key} = {value!r}" for key, value in params.items())
    return f'{{ name = "{name}", learner = "{learner}", params = {{ {given} }}{extra} }}'


def replicates(output):
    """The bytes of all replicates under an output, by the names of their cells without what the code adds."""
    files = sorted(Path(output, "replicates").rglob("*.parquet"))
    return {file.parent.name.rpartition(".")[0]: file.read_bytes() for file in files}
