"""Rows of totals and means in a table: at its edges they are refused by name; elsewhere such a name may be an item."""

import pandas as pd
import polars as pl
import pytest

import sigstats

NUMBERED, WORDS, LETTERS = ["1", "2", "3"], ["u1", "u2", "u3"], list("abcdefghijkl")


def table(path, ids, **columns):
    frame = pd.DataFrame({"id": ids, "label": 0, "prediction": 0} | columns)
    frame.to_csv(path, index=False)
    return path


@pytest.mark.parametrize("ids", [NUMBERED, WORDS])
@pytest.mark.parametrize("name", ["mean", "Total", "TOTAL", "macro avg", "Grand total", "accuracy"])
def test_a_last_or_first_row_with_the_name_of_a_summary_is_refused(tmp_path, refused, ids, name):
    for own, line in (([*ids, name], 5), ([name, *ids], 2)):
        message = refused("check", table(tmp_path / "a.csv", own), "--at-least", "0.5")
        assert f"line {line}: column 'id': '{name}' is a summary, not a row; remove it" in message


@pytest.mark.parametrize(
    ("ids", "columns"),
    [
        (LETTERS, {"token": ["All", *"bcdefghijk", "sum"]}),
        ([*LETTERS[:6], "total", *LETTERS[6:]], {}),
        (LETTERS, {"split": "all"}),
        (LETTERS, {"label": [*"xyxyxyxyxyx", "mean"], "prediction": [*"xyxyxyxyxyx", "mean"]}),
        (LETTERS, {"domain": ["all", *["some"] * 10, "all"]}),
    ],
)
def test_items_and_classes_may_have_such_names(tmp_path, printed, ids, columns):
    printed("check", table(tmp_path / "a.csv", ids, **columns), "--at-least", "0.1", code=(0, 1))


def test_nested_texts_of_polars_in_other_columns_are_not_read(tmp_path, printed):
    frame = pl.DataFrame({"id": LETTERS, "label": 0, "prediction": 0, "extra": [["a", "b"]] * 12})
    frame.write_ipc(path := tmp_path / "a.arrow")
    printed("check", path, "--at-least", "0.1", code=(0, 1))
    frame.select("extra", "label", "prediction").write_ipc(path)
    printed("check", path, "--by-position", "--at-least", "0.1", code=(0, 1))


@pytest.mark.long
@pytest.mark.parametrize("name", ["mean", "Average", "avg", "all", "TOTAL", "overall", "ensemble", "majority vote"])
@pytest.mark.parametrize("command", ["check", "compare", "rank"])
def test_a_summary_of_the_runs_is_not_one_more_run(tmp_path, refused, printed, command, name):
    def written(to, seeds):
        rows = pd.DataFrame({"id": [*LETTERS] * len(seeds), "seed": [seed for seed in seeds for _ in LETTERS]})
        path = tmp_path / f"{to}.csv"
        rows.assign(label=0, prediction=range(len(rows))).assign(prediction=lambda at: at.prediction % 5 // 4).to_csv(
            path, index=False
        )
        return path

    options = ["--run", "seed", *(["--at-least", "0.1"] if command == "check" else [])]
    files = [] if command == "check" else [written("a", ["1", "2", "3"])]
    message = refused(command, *files, written("b", ["1", "2", name]), *options)
    assert f"b.csv, line 26: column 'seed': '{name}' is a summary of the others; remove its rows" in message
    if command in ("check", "compare"):
        printed(command, *files, written("b", ["1", "2", "vote-a"]), *options, code=(0, 1))


def test_a_frame_with_a_mean_of_the_runs_is_refused():
    frame = pd.DataFrame({"id": [1, 2] * 3, "seed": ["1"] * 2 + ["2"] * 2 + ["mean"] * 2, "f1": [0.1, 0.3, 0.5] * 2})
    with pytest.raises(ValueError, match=r"row 4 .*column 'seed': 'mean' is a summary of the others"):
        sigstats.compare(frame, frame, score="f1", run="seed")
