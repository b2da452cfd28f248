import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.utils import Bunch

import sigstats
from sigstats.flows.commands import main
from sigstats.flows.commands.studies import OPENML
from sigstats.flows.config import toml_files
from sigstats.flows.config.toml_files import (
    StudyPlace,
    data_files_of,
    fetched_by,
    place_of,
    ready_studies,
    summary_of,
)
from sigstats.flows.errors import BadInput
from sigstats.flows.running.kind import load_study


def test_they_are_the_projects_own(repository):
    files = {path.stem: path.read_bytes() for path in (repository / "configs" / "studies").glob("*.toml")}
    assert {name: path.read_bytes() for name, path in ready_studies().items()} == files


@pytest.mark.parametrize("name", ready_studies())
def test_each_says_in_one_line_what_it_is(name):
    line = summary_of(ready_studies()[name])
    assert 20 < len(line) <= 108
    assert line[-1] not in ".:,"
    assert load_study(place_of(name).path).name == name


def test_the_list_has_a_line_each_and_a_name_prints_the_file(printed):
    lines = printed("studies").splitlines()
    assert [line.split("  ")[0] for line in lines] == list(ready_studies())
    assert printed("studies", "regression") == ready_studies()["regression"].read_text()


def test_a_name_of_two_things_is_refused_and_each_can_be_said(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert place_of("quickstart").ready == "quickstart"
    (tmp_path / "quickstart").write_text("mine")
    with pytest.raises(BadInput, match=r"'quickstart' is both a file and a ready study; write './quickstart'"):
        place_of("quickstart")
    for file in ("./quickstart", str(tmp_path / "quickstart"), Path("quickstart")):
        assert place_of(file) == StudyPlace(Path(file), Path(file).parent)


def test_a_folder_of_results_does_not_hide_the_ready_study(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nyssen").mkdir()
    assert place_of("nyssen") == StudyPlace(ready_studies()["nyssen"], Path(), ready="nyssen")
    with pytest.raises(BadInput, match="is a folder"):
        load_study(place_of("./nyssen").path)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("quickstrat", "did you mean 'quickstart'?"),
        ("nothing-like-it", "or one of the ready studies "),
        ("configs/studies/quickstart.toml", "the ready study is started by its name, 'quickstart'"),
        ("", "is a folder"),
        ("a\0b", "'a\\x00b' is not valid"),
        ("x" * 5000, "cannot be read"),
    ],
)
def test_a_wrong_name_is_refused_in_one_line(tmp_path, monkeypatch, given, said):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadInput) as caught:
        load_study(place_of(given).path)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_relative_data_of_a_ready_study_lies_in_the_working_folder(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "predictions").mkdir()
    rows = "id,label,prediction,region\n" + "".join(f"{row},{row % 2},{row % 2},x\n" for row in range(40))
    for name in ("production", "candidate-1"):
        (tmp_path / "predictions" / f"{name}.csv").write_text(rows)
    files = ["baseline=predictions/production.csv", "candidate=predictions/candidate-*.csv"]
    given = [word for each in files for word in ("--set", each)]
    assert main(["run", "regression", "--quiet", "--output", "out", *given]) == 0


def test_from_python_too(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match=r"did you mean 'quickstart'\?"):
        sigstats.run_study("quickstrat", output=tmp_path / "out")
    (tmp_path / "tiny.toml").write_text('kind = "significance"\ntables = [{ name = "t", counts = [[8, 2], [1, 9]] }]\n')
    monkeypatch.setattr(toml_files, "_FOLDER", tmp_path)
    assert sigstats.run_study("tiny", output=tmp_path / "out").study["name"] == "tiny"


@pytest.mark.parametrize("name", ["regression", "keller"])
def test_a_ready_study_without_its_data_says_how_to_fetch_them(name, tmp_path, monkeypatch, refused):
    monkeypatch.chdir(tmp_path)
    said = refused("run", name)
    assert said.startswith(f"sigstats: {name}: ")
    assert f"`sigstats studies --fetch {name}`" in said
    assert said.count("\n") == 1


def test_fetching_is_not_proposed_where_the_folder_of_a_study_has_its_data(tmp_path):
    study = load_study(place_of("keller").path, [f"folder={tmp_path}"])
    assert "--fetch keller" in fetched_by(study, tmp_path)
    for each in data_files_of(tomllib.loads(place_of("keller").path.read_text("utf-8"))):
        (tmp_path / each).touch()
    assert fetched_by(study, tmp_path / "elsewhere") == ""


@pytest.mark.long
def test_the_regression_study_runs_by_its_name_on_what_was_fetched(tmp_path, monkeypatch, printed):
    monkeypatch.chdir(tmp_path)
    files = printed("studies", "--fetch", "regression").split()
    assert files == ["predictions/production.parquet", "predictions/candidate-1.parquet"]
    assert main(["run", "regression", "--quiet"]) == 1  # the newer version has a planted fault


def _weather(rows, classes):
    return Bunch(data=pd.DataFrame({"wind": range(rows)}), target=pd.Series(classes, dtype="category"))


def test_data_that_came_are_compared_with_those_that_are_meant(tmp_path, monkeypatch, capsys):
    """OpenML is not asked: what stands for its downloader gives iris as it is, and too little of all others."""
    iris = ["a"] * 50 + ["b"] * 50 + ["c"] * 50
    came = {61: _weather(150, iris)}
    monkeypatch.setattr(
        "sklearn.datasets.fetch_openml", lambda data_id, **_: came.get(data_id, _weather(2, ["a", "b"]))
    )
    monkeypatch.chdir(tmp_path)
    assert main(["studies", "--fetch", "ojala-garriga"]) == 2
    printed = capsys.readouterr()
    assert printed.out.split() == ["iris.parquet"]
    frame = pd.read_parquet(tmp_path / "iris.parquet")
    assert frame["class"].tolist() == iris
    assert list(frame) == ["wind", "class"]
    assert (
        "15 of 16 files were not fetched: anneal_orig.parquet (other data were fetched: 2 rows, 1 of one class"
        in printed.err
    )
    assert "segment_train210.parquet (no downloader has it in this form)" in printed.err
    assert [path.name for path in tmp_path.iterdir()] == ["iris.parquet"]


def test_openml_rows_and_largest_classes_are_those_of_the_data_that_studies_name():
    """Of the data sets that scikit-learn has itself, as it has them."""
    for stem, load in {"iris": load_iris, "wine": load_wine, "wdbc": load_breast_cancer}.items():
        target = load().target
        assert OPENML[stem][1:] == (len(target), np.bincount(target).max())
