"""The file of the labels lends slices, groups, bins, tasks and weights to files of predictions without them."""

import json

import numpy as np
import pandas as pd
import pytest

from sigstats.flows.commands import main

N = 120
RNG = np.random.default_rng(5)
TRUTH = pd.DataFrame(
    {
        "id": range(N),
        "label": RNG.integers(0, 2, N),
        "region": RNG.choice(["north", "south"], N),
        "patient": np.arange(N) // 3,
        "weight": RNG.integers(1, 4, N),
        "length": RNG.permutation(N),
    }
)
MODELS = {
    name: np.where(RNG.random(N) < wrong, 1 - TRUTH["label"], TRUTH["label"])
    for name, wrong in {"a": 0.1, "b": 0.3}.items()
}


def rows_of(tmp_path, tables, *options):
    for name, table in tables.items():
        table.to_csv(tmp_path / name, index=False)
    main(["compare", str(tmp_path / "a"), str(tmp_path / "b"), *options, "--json", str(tmp_path / "result.json")])
    return json.loads((tmp_path / "result.json").read_text())["rows"]


@pytest.mark.long
@pytest.mark.parametrize("by", ["id", "position"])
@pytest.mark.parametrize(
    "options",
    [
        ["--slice", "region"],
        ["--group", "patient"],
        ["--weights", "weight"],
        ["--slice", "length=3"],
        ["--task", "region"],
    ],
    ids=lambda options: options[0],
)
def test_what_the_file_of_labels_lends_means_what_own_columns_mean(tmp_path, options, by):
    more = ["--by-position"] if by == "position" else []
    truth = TRUTH.drop(columns="id") if more else TRUTH.sample(frac=1, random_state=1)
    truth.to_csv(tmp_path / "truth", index=False)
    bare = {name: pd.DataFrame({"id": range(N), "prediction": guess}) for name, guess in MODELS.items()}
    whole = {name: TRUTH.assign(prediction=guess) for name, guess in MODELS.items()}
    lent = rows_of(tmp_path, bare, *options, "--labels", str(tmp_path / "truth"), *more)
    assert lent == rows_of(tmp_path, whole, *options, *more)


def test_rows_without_a_label_are_left_out_where_that_is_asked(tmp_path, capsys, refused):
    TRUTH[:100].to_csv(tmp_path / "truth", index=False)
    bare = {name: pd.DataFrame({"id": range(N), "prediction": guess}) for name, guess in MODELS.items()}
    options = ["--labels", str(tmp_path / "truth"), "--slice", "region"]
    rows = rows_of(tmp_path, bare, *options, "--unscored", "drop")
    assert {row["slice"]: row["n"] for row in rows}["region = north"] == (TRUTH["region"][:100] == "north").sum()
    capsys.readouterr()
    said = refused("compare", tmp_path / "a", tmp_path / "b", *options)
    assert "id '100' has no label in" in said
    assert "add it, or --unscored drop" in said


@pytest.mark.parametrize("options", [["--slice", "region"], ["--group", "patient"], ["--weights", "weight"]])
def test_a_column_that_contradicts_the_file_of_labels_is_refused(tmp_path, capsys, options):
    (column,) = options[1:]
    own = {name: TRUTH[["id", column]].assign(prediction=said) for name, said in MODELS.items()}
    assert rows_of(tmp_path, own | {"truth": TRUTH}, "--labels", str(tmp_path / "truth"), *options)
    capsys.readouterr()
    for table in own.values():
        table[column] = np.roll(table[column], 1)
        table.to_csv(tmp_path / "a", index=False)
        table.to_csv(tmp_path / "b", index=False)
    files = [str(tmp_path / name) for name in ("a", "b")]
    assert main(["compare", *files, "--labels", str(tmp_path / "truth"), *options]) == 2
    assert "expected the same in both" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["compare", "check", "rank"])
def test_labelled_rows_without_a_prediction_are_counted(tmp_path, capsys, command):
    TRUTH.to_csv(tmp_path / "truth", index=False)
    for name, said in MODELS.items():
        TRUTH[["id"]].assign(prediction=said).head(90).to_csv(tmp_path / name, index=False)
    files = [str(tmp_path / name) for name in ("a", "b")][: 1 if command == "check" else 2]
    bar = ["--at-least", "0.5"] * (command == "check")
    main([command, *files, *bar, "--labels", str(tmp_path / "truth"), "--json", str(tmp_path / "result.json")])
    notes = {note["name"]: note["text"] for note in json.loads((tmp_path / "result.json").read_text())["notes"]}
    assert "30 of 120 rows" in notes["unpredicted-labels"]
