"""What a file supports: each line that is printed is a command that runs."""

import json
import shlex
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sigstats.flows.commands import main

from ...sigstats.files.predictions.test_harnesses import LOGS, real

RNG = np.random.default_rng(3)
TRUTH = RNG.choice(["cat", "dog"], 120)
RIGHT = {name: np.where(RNG.random(120) < 0.8, TRUTH, "cat") for name in "abc"}
CHANCE = RNG.random(120).round(3)
PEOPLE = {"site": RNG.choice(["x", "y"], 120), "patient": [f"p{row // 4}" for row in range(120)]}
TABLES = {
    "one model": {"id": range(120), "label": TRUTH, "prediction": RIGHT["a"]},
    "parts": {"id": range(120), "label": TRUTH, "prediction": RIGHT["a"], **PEOPLE},
    "three models": {"id": range(120), "y_true": TRUTH, **RIGHT},
    "probabilities": {"id": range(120), "label": TRUTH, "prob_cat": CHANCE, "prob_dog": 1 - CHANCE},
    "probabilities only": {"prob_cat": CHANCE, "prob_dog": 1 - CHANCE},
    "classes only": {"cat": CHANCE, "dog": 1 - CHANCE},
    "marks": {"id": range(120), "accuracy": CHANCE, "wer": CHANCE, "how good": CHANCE},
}
WANTED = {
    "one model": ["check {} --at-least 0.9", "compare {} CANDIDATE"],
    "parts": [
        "check {} --at-least 0.9",
        "compare {} CANDIDATE",
        "check {} --at-least 0.9 --slice site",
        "check {} --at-least 0.9 --group patient",
    ],
    "three models": [
        "compare {} --prediction a --prediction b",
        "rank {} --prediction a --prediction b --prediction c",
        "check {} --prediction a --at-least 0.9",
    ],
    "probabilities": ["check {} --probabilities 'prob_*' --at-least 0.9"],
    "probabilities only": ["check {} --probabilities 'prob_*' --labels LABELS --at-least 0.9"],
    "classes only": ["check {} --probabilities cat,dog --labels LABELS --at-least 0.9"],
    "marks": [
        "check {} --score accuracy --at-least 0.5",
        "check {} --score wer --at-most 0.5",
        "check {} --higher-is-better 'how good' --at-least 0.5  # or --lower-is-better",
    ],
}


def lines(path, capsys):
    assert main(["doctor", str(path)]) == 0
    return capsys.readouterr().out.splitlines()


def run(line, path, capsys):
    """The exit code of a line, with a copy of the file as the candidate."""
    words = shlex.split(line, comments=True)
    if "CANDIDATE" in words:
        copy = shutil.copy(path, path.parent / f"copy-{path.name}")
        words[words.index("CANDIDATE")] = str(copy)
    if "LABELS" in words:
        words[words.index("LABELS")] = str(labels := path.parent / "labels.csv")
        pd.DataFrame({"label": TRUTH}).to_csv(labels, index=False)
    code = main(words[1:])
    capsys.readouterr()
    return code


@pytest.mark.long
@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_table_is_answered_with_commands_that_run(name, kind, tmp_path, capsys):
    path, frame = tmp_path / f"my file.{kind}", pd.DataFrame(TABLES[name])
    frame.to_csv(path, index=False) if kind == "csv" else frame.to_parquet(path)
    head, *commands = lines(path, capsys)
    assert head.startswith(f"{path}: a table of 120 rows with the columns ")
    assert commands == [f"sigstats {line.format(shlex.quote(str(path)))}" for line in WANTED[name]]
    assert {run(line, path, capsys) for line in commands} <= {0, 1}


LONG = {name: np.tile(values, 3) for name, values in TABLES["parts"].items()} | {"model": np.repeat([*"abc"], 120)}
SEEDS = {name: np.tile(TABLES["one model"][name], 5) for name in TABLES["one model"]} | {
    "seed": np.repeat(range(5), 120)
}
SETS = {"dataset": [f"d{row}" for row in range(40)] * 3, "model": np.repeat([*"abc"], 40), "accuracy": CHANCE}
VOTES = {
    "model_a": ["x"] * 60 + ["y"] * 60,
    "model_b": ["y"] * 60 + ["z"] * 60,
    "winner": RNG.choice(["model_a", "tie"], 120),
}
FEATURES = {"age": RNG.integers(20, 70, 120), "rating": RNG.integers(1, 6, 120), "user_id": np.arange(120) // 5}
#: Files with the name of the first command, and options that are printed or not.
NATURAL = {
    "unnamed index": ({"": range(120), "label": TRUTH, "prediction": RIGHT["a"]}, "check", "--id ''", "--by-position"),
    "no index": ({"label": TRUTH, "prediction": RIGHT["a"]}, "check", "--by-position", "--id"),
    "models": (LONG, "rank", "--model a --model b", "--slice model"),
    "models by data set": (SETS, "compare", "--id dataset", "check"),
    "seeds": (SEEDS, "check", "--run seed", "--slice"),
    "data sets and seeds": (
        {name: np.repeat(values, 3) for name, values in SETS.items()} | {"seed": np.tile(range(3), 120)},
        *("compare", "--id dataset --run seed", "--by-position"),
    ),
    "scores": (
        {"id": range(120), **{name: right == TRUTH for name, right in RIGHT.items()}},
        "check",
        "better c",
        "--slice",
    ),
    "measurements": ({"id": range(120), "label": CHANCE, "prediction": CHANCE.round(1)}, "compare", "neg-mae", "0.9"),
    "features": (TABLES["one model"] | FEATURES, "check", "--group user_id", "--slice"),
    "another class": (TABLES["one model"] | {"prediction": ["unsure", *RIGHT["a"][1:]]}, "check", "CANDIDATE", "--id"),
    "votes": (VOTES, "rank", "", "compare"),
    "votes on questions": (VOTES | {"question_id": np.arange(120) // 3}, "rank", "--item question_id", "--group"),
    "votes of judges": (
        VOTES | {"judge": np.arange(120) % 20, "question_id": np.arange(120) // 3},
        *("rank", "--group judge --item question_id", "compare"),
    ),
    "counts": (
        {"label": [*"aabb"], "prediction": [*"abab"], "count": [9, 1, 2, 8]},
        None,
        "frame.index.repeat",
        "check",
    ),
}


@pytest.mark.long
@pytest.mark.parametrize("name", NATURAL)
def test_every_command_of_a_natural_file_runs(name, tmp_path, capsys):
    path, (columns, first, printed, absent) = tmp_path / "a.csv", NATURAL[name]
    pd.DataFrame(columns).replace({True: 1, False: 0}).to_csv(path, index=False)
    head, *commands = lines(path, capsys)
    assert [line.split()[1] for line in commands[:1]] == [first] * (first is not None)
    assert printed in "\n".join([head, *commands])
    assert absent not in "\n".join(commands)
    assert {run(line, path, capsys) for line in commands} <= {0, 1}


def test_columns_of_objects_and_lists_are_left_out(tmp_path, capsys):
    path = tmp_path / "nested.jsonl"
    frame = pd.DataFrame(TABLES["one model"]).assign(meta=[{"a": 1}] * 120, tags=[["x"]] * 120)
    frame.to_json(path, orient="records", lines=True)
    head, *commands = lines(path, capsys)
    assert "meta" not in head
    assert commands
    assert {run(line, path, capsys) for line in commands} <= {0, 1}


def test_a_frame_as_pandas_writes_it_is_answered_as_its_csv(tmp_path, capsys):
    renamed = {"label": "gold_label", "prediction": "pred_label"}
    frame = pd.DataFrame(TABLES["one model"]).rename(columns=renamed)
    frame.to_json(tmp_path / "a.json")
    frame.to_csv(tmp_path / "a.csv", index=False)
    (head, *commands), (other, *same) = (lines(tmp_path / name, capsys) for name in ("a.json", "a.csv"))
    assert head.partition(": ")[2] == other.partition(": ")[2]
    assert [line.replace("a.json", "a.csv") for line in commands] == same
    assert {run(line, tmp_path / "a.json", capsys) for line in commands} <= {0, 1}


def test_a_log_without_scores_is_not_asked_for_columns(tmp_path, capsys):
    samples = [{"id": row, "epoch": 1, "input": "q", "target": "a", "scores": {}} for row in range(10)]
    log = {"version": 2, "status": "success", "eval": {"task": "t", "model": "m"}, "samples": samples}
    (tmp_path / "log.json").write_text(json.dumps(log))
    (head,) = lines(tmp_path / "log.json", capsys)
    assert head.endswith("with the scores none; no command compares answers without scores")


def test_what_is_not_clear_is_asked_for(tmp_path, capsys, refused):
    path = tmp_path / "a.csv"
    for columns in ({"id": range(120), "class": TRUTH, "a": RIGHT["a"]}, {"label": TRUTH, "y": TRUTH, "a": RIGHT["a"]}):
        pd.DataFrame(columns).to_csv(path, index=False)
        (head,) = lines(path, capsys)
        assert head.endswith(
            "; name the true classes with --label, the predicted ones with --prediction, or marks with --score"
        )
    assert "sigstats doctor FILE" in refused("compare", path)


@real
@pytest.mark.long
def test_a_log_is_answered_with_commands_that_run(tmp_path, capsys):
    names = (
        "inspect/popularity-100.eval",
        "lm-evaluation-harness/gsm8k-two-filters-10.jsonl",
        "wild/promptfoo-pf-shift.json.gz",
    )
    for name in names:
        path = Path(shutil.copy(LOGS / name, tmp_path))
        head, *commands = lines(path, capsys)
        assert ": a log of " in head
        assert commands
        assert {run(line, path, capsys) for line in commands} <= {0, 1}
