"""Where predictions lie: folders of tasks, patterns, URLs; and bad input that is one line, whatever it is."""

import bz2
import gzip
import io
import json
import os
import re
import zipfile
from pathlib import Path

import fsspec
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sigstats
from sigstats.files.predictions import Columns, join, read
from sigstats.files.predictions.readers import REGISTRY
from sigstats.flows.commands import main

from ....examples import examples
from .logs import harness_log, inspect_log

ROWS = [{"id": str(number), "label": "cat", "prediction": "cat" if number % 3 else "dog"} for number in range(12)]


def csv(rows):
    return "\n".join(["id,label,prediction", *(",".join(row.values()) for row in rows)]) + "\n"


def seen(path, **columns):
    found = read(str(path), Columns().but(**columns))
    return sorted(
        zip(found.ids.to_pylist(), found.outcomes.label.to_pylist(), found.outcomes.prediction.to_pylist(), strict=True)
    )


PLAIN = sorted(tuple(row.values()) for row in ROWS)
TEXTS = {
    "csv": csv(ROWS),
    "tsv": csv(ROWS).replace(",", "\t"),
    "semicolons": csv(ROWS).replace(",", ";"),
    "json lines": "\n".join(map(json.dumps, ROWS)),
    "objects of several lines": "\n".join(json.dumps(row, indent=1) for row in ROWS),
    "json array": json.dumps(ROWS),
    "json array of several lines": json.dumps(ROWS, indent=2),
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
@pytest.mark.parametrize(
    ("encoding", "pack"),
    [
        *((encoding, bytes) for encoding in ("utf-8", "utf-8-sig", "utf-16", "utf-32")),
        *(("utf-8", gzip.compress), ("utf-16", bz2.compress)),
    ],
)
def test_a_table_is_the_same_in_every_form(tmp_path, text, encoding, pack):
    (tmp_path / "no name that says anything").write_bytes(pack(text.encode(encoding)))
    assert seen(tmp_path / "no name that says anything") == PLAIN


def test_a_url_is_read_as_a_file_is():
    held = fsspec.filesystem("memory")
    held.pipe_file("/predictions/one.jsonl.gz", gzip.compress(TEXTS["json lines"].encode()))
    assert seen("memory://predictions/one.jsonl.gz") == PLAIN
    held.pipe_file("/tasks/one.csv", TEXTS["csv"].encode())
    held.pipe_file("/tasks/two.csv", TEXTS["csv"].encode())
    both = sorted((f"{task}/{item}", *rest) for task in ("one", "two") for item, *rest in PLAIN)
    assert seen("memory://tasks/") == seen("memory://tasks") == seen("memory://tasks/*.csv") == both


def test_a_folder_of_tables_is_a_task_each(tmp_path):
    for model in ("old", "new"):
        (tmp_path / model / "hard").mkdir(parents=True)
        (tmp_path / model / f"geometry-{model}-2024.csv").write_text(TEXTS["csv"])
        (tmp_path / model / "hard" / f"algebra-{model}-2024.jsonl.gz").write_bytes(
            gzip.compress(TEXTS["json lines"].encode())
        )
        (tmp_path / model / "README.md").write_text("# Predictions, of a model\n")
        (tmp_path / model / ".cache").write_text("id,label,prediction\n")
    columns = Columns().but(slices=("task",))
    sides = [read(str(tmp_path / model), columns) for model in ("old", "new")]
    assert sides[0].ids.to_pylist()[0].count("/") == 1 + sides[0].requested["task"].to_pylist()[0].count("/")
    found = join(read(str(tmp_path / "old"), columns), read(str(tmp_path / "old"), columns), columns)
    assert found.n == 24
    assert len(found.units.slices["task"][0]) == 2
    assert [note.name for note in sides[0].notes] == ["unread-files"]
    assert "not read: README.md" in sides[0].notes[0]
    (tmp_path / "new" / "README.md").rename(tmp_path / "new" / "topology.txt")
    (tmp_path / "new" / "topology.txt").write_text(TEXTS["csv"])
    assert "not read: topology.txt" in read(str(tmp_path / "new"), columns).notes[0]
    assert len(read(str(tmp_path / "new" / "*.txt"), Columns()).ids) == 12


def test_the_parts_of_names_that_all_files_share_are_no_part_of_the_task(tmp_path):
    for model, date in (("old", "2024-01"), ("new", "2024-02")):
        for task in ("number_theory", "geometry"):
            (tmp_path / f"{task}-{model}-{date}.csv").write_text(TEXTS["csv"])
    columns = Columns().but(slices=("task",))
    found = join(*(read(str(tmp_path / f"*-{model}-*.csv"), columns) for model in ("old", "new")), columns)
    assert found.units.slices["task"][0] == ("geometry", "number_theory")
    assert found.n == 24


def test_files_of_scores_without_ids_are_told_to_be_tasks(tmp_path, printed):
    for name in ("gpt", "llama"):
        (tmp_path / f"{name}.csv").write_text("f1\n" + "0.9\n0.8\n0.95\n" * 20)
    told = "the 2 files are read as tasks of one model: gpt, llama; if they are models, give compare or rank"
    assert told in " ".join(printed("check", tmp_path, "--score", "f1", "--at-least", "0.5").split())


def folder_of_files(folder, *files):
    """Files of ids, random labels of two classes and predictions, 9 of 10 of them right."""
    rng = np.random.default_rng(5)
    folder.mkdir()
    for name, ids, labels in files:
        said = np.where(rng.random(len(ids)) < 0.9, labels, 1 - labels)
        rows = [f"{key},{label},{own}" for key, label, own in zip(ids, labels, said, strict=True)]
        (folder / f"{name}.csv").write_text("\n".join(["id,label,prediction", *rows]))
    return folder


def test_files_of_the_same_items_are_no_independent_tasks(tmp_path, refused, answer):
    labels, others = np.random.default_rng(4).integers(0, 2, (2, 300))
    files = ("gsm", range(300), others), ("de", range(300), labels), ("fr", range(100, 200), labels[100:200])
    first, second = (folder_of_files(tmp_path / name, *files) for name in "ab")
    for command in (["compare", first, second], ["rank", first, second], ["check", first, "--at-least", "0.5"]):
        said = refused(*command)
        assert "de and fr" in said
        assert "have the same 100 items; add --group id" in said
    found = answer("compare", first, second, "--group", "id")
    columns = Columns().but(group="id")
    pair = join(read(str(first), columns), read(str(second), columns), columns)
    assert (found["n"], len(np.unique(pair.units.group)), pair.units.crossed) == (700, 300, True)
    # One table with a column of tasks is the same.
    for folder in (first, second):
        tables = [pd.read_csv(folder / f"{name}.csv").assign(language=name) for name in ("gsm", "de", "fr")]
        pd.concat(tables).to_csv(f"{folder}.csv", index=False)
    tables = [f"{first}.csv", f"{second}.csv", "--task", "language"]
    assert "de and fr have the same 100 items; add --group id" in refused("compare", *tables)
    # A file with one column has no ids.
    (tmp_path / "labels").mkdir()
    for name in ("de", "fr"):
        (tmp_path / "labels" / f"{name}.csv").write_text("\n".join(["label", *map(str, labels)]))
    ids = "de and fr have the same 300 items; add ids and --group id"
    assert ids in refused("compare", first, second, "--labels", tmp_path / "labels")
    folder_of_files(tmp_path / "runs", *((f"seed_{run}", range(9), np.ones(9, int)) for run in range(2)))
    assert "seed_0 and seed_1 " in refused("check", tmp_path / "runs", "--at-least", "0.5")


@pytest.mark.long
@pytest.mark.parametrize("command", ["compare", "rank", "check"])
def test_ids_that_restart_in_each_task_are_those_of_a_folder_with_a_file_per_task(tmp_path, printed, refused, command):
    labels = np.random.default_rng(6).integers(0, 2, (2, 200))
    files = ("arc", range(200), labels[0]), ("piqa", range(100), labels[1][:100])
    folders = [folder_of_files(tmp_path / "a", *files), folder_of_files(tmp_path / "b", *files[::-1])]
    folders = folders[: 2 - (command == "check")]
    paths = [f"{folder}.csv" for folder in folders]
    for folder, path in zip(folders, paths, strict=True):
        parts = [pd.read_csv(folder / f"{name}.csv").assign(task=name) for name in ("arc", "piqa")]
        pd.concat(parts).to_csv(path, index=False)
    bar = ["--at-least", "0.5"] * (command == "check")
    assert "--task COLUMN, if ids restart in each task" in refused(command, *paths, *bar)
    bar += ["--task", "task", "--json", "-"]
    one, other = (
        json.loads(printed(command, *where, *bar, code=(0, 1)).replace(".csv", "")) for where in (folders, paths)
    )
    for result in (one, other):
        for key in ("notes", "inputs", "options", "files"):
            result.pop(key, None)
    assert one == other


@pytest.mark.parametrize("command", ["compare", "rank"])
def test_a_file_of_one_of_several_tasks_whose_ids_restart_is_joined_by_task_and_id(tmp_path, answer, refused, command):
    rng = np.random.default_rng(8)
    whole = pd.DataFrame(
        {"id": [*range(60)] * 2, "task": ["arc"] * 60 + ["piqa"] * 60, "label": rng.integers(0, 2, 120)}
    )
    whole["prediction"] = np.abs(whole.label - (rng.random(120) < 0.2))
    one = whole[whole.task == "piqa"].assign(prediction=rng.integers(0, 2, 60))
    paths = [tmp_path / "whole.csv", tmp_path / "one.csv"]
    for frame, path in zip((whole, one), paths, strict=True):
        frame.to_csv(path, index=False)
    arguments = (command, *paths, "--task", "task")
    assert "ids 'arc/0', 'arc/1', 'arc/2' and 57 more are only in this file" in refused(*arguments)
    found = answer(*arguments, "--unmatched", "drop")
    whole[whole.task == "piqa"].to_csv(paths[0], index=False)
    expected = answer(command, *paths)
    results = "models" if command == "rank" else "rows"
    assert (found["n"], found[results]) == (60, expected[results])
    whole.to_csv(paths[0], index=False)
    one.drop(columns="task").to_csv(paths[1], index=False)
    message = (
        f"{paths[1]}: column 'task' was not found; ids of {paths[0]} restart in each task, so add the task of each"
    )
    assert message in refused(*arguments)
    one.assign(task="PIQA").to_csv(paths[1], index=False)
    assert "shares no id with" in (unshared := refused(*arguments))
    assert "('PIQA/0' here, 'arc/0' there)" in unshared


@pytest.mark.parametrize("options", [["--epoch", "try"], ["--run", "try"], ["--duplicates", "first"]])
def test_ids_that_repeat_only_within_tasks_are_those_of_a_file_without_repeats(tmp_path, answer, options):
    rng = np.random.default_rng(7)
    rows = pd.DataFrame({"id": range(300), "label": rng.integers(0, 2, 300), "task": ["arc"] * 200 + ["piqa"] * 100})
    tries = [rows.assign(prediction=np.abs(rows["label"] - (rng.random(300) < 0.1)), **{"try": k}) for k in range(4)]
    paths = [str(tmp_path / name) for name in ("several.csv", "one.csv")]
    pd.concat(tries[:3]).to_csv(paths[0], index=False)
    tries[3].to_csv(paths[1], index=False)
    with_tasks, without = (answer("compare", *paths, *options, *task) for task in (["--task", "task"], []))
    keys = "slice", "n", "baseline", "candidate", "difference", "p_worse"
    row = [without["rows"][0][key] for key in keys]
    assert row in [[row[key] for key in keys] for row in with_tasks["rows"]]
    assert with_tasks["n"] == 300


@pytest.mark.parametrize(
    "labels",
    [lambda rng: np.sort(rng.integers(0, 2, 99)), lambda rng: rng.integers(0, 2, 99), lambda _: np.arange(99) % 2],
)
def test_files_whose_ids_and_labels_agree_by_design_or_in_part_are_tasks(labels, tmp_path):
    rng = np.random.default_rng(3)
    files = [(f"task{number}", range(99), labels(rng)) for number in range(4)]
    read_ = read(str(folder_of_files(tmp_path / "a", *files)), Columns())
    assert len(read_.requested["task"].unique()) == 4


def test_parts_of_one_table_are_no_tasks(tmp_path, refused):
    labels = np.random.default_rng(4).integers(0, 2, 300)
    parts = [(f"part-0000{place}-1f", range(start, start + 100), labels[:100]) for place, start in enumerate((0, 100))]
    read_ = read(str(folder_of_files(tmp_path / "a", *parts)), Columns())
    assert (read_.ids.to_pylist(), "task" in read_.requested) == ([str(id_) for id_ in range(200)], False)
    assert [note.name for note in read_.notes] == ["parts-of-one-table"]
    folder_of_files(tmp_path / "b", *((f"train-{part}-of-2", range(100), labels[:100]) for part in range(2)))
    assert "100 of 200 rows repeat an id" in refused("check", tmp_path / "b", "--id", "id", "--at-least", "0.5")
    tables = [(f"{task}_part1", range(start, start + 100), labels[:100]) for start, task in ((0, "law"), (100, "math"))]
    read_ = read(str(folder_of_files(tmp_path / "c", *tables)), Columns())
    assert len(read_.requested["task"].unique()) == 2


@pytest.mark.parametrize(
    ("name", "are_parts"),
    [
        *((name, True) for name in ("part-{}", "part{}", "Part {}", "part.{}", "preds_part_{}", "shard_{}")),
        *((name, True) for name in ("chunk{}", "batch_{}", "rank-{}", "train-{}-of-2")),
        *((name, False) for name in ("{}", "split_{}", "apart{}", "part-a{}", "level{}", "rebatch_{}")),
    ],
)
def test_numbered_parts_of_one_table_are_known_by_their_names(tmp_path, name, are_parts):
    labels = np.random.default_rng(4).integers(0, 2, 60)
    files = [(name.format(place), range(30 * place, 30 * place + 30), labels[:30]) for place in range(2)]
    assert ("task" not in read(str(folder_of_files(tmp_path / "a", *files)), Columns()).requested) == are_parts


def test_a_file_of_training_rows_is_noted(tmp_path):
    labels = np.random.default_rng(4).integers(0, 2, 100)
    files = ("train", range(60), labels[:60]), ("test", range(60, 100), labels[60:])
    (note,) = read(str(folder_of_files(tmp_path / "a", *files)), Columns()).notes
    assert (note.name, "the 60 rows of train count like the others" in note) == ("training-rows", True)
    assert not read(str(folder_of_files(tmp_path / "b", *files[1:], ("dev", range(9), labels[:9]))), Columns()).notes


def test_folders_of_the_same_files_are_identical(tmp_path, printed):
    for model in ("old", "new"):
        (tmp_path / model).mkdir()
        for task in ("geometry", "algebra"):
            (tmp_path / model / f"{task}.csv").write_text(TEXTS["csv"])
    paths = [str(tmp_path / model) for model in ("old", "new")]
    assert "Beware: both inputs have the same content" in printed("compare", *paths)
    (tmp_path / "new" / "algebra.csv").write_text(TEXTS["csv"].replace("dog", "cat"))
    assert "same content" not in printed("compare", *paths)


def test_a_folder_of_logs_is_read_by_their_tasks_and_what_lies_beside_them_is_not(tmp_path):
    for model, offset in (("old", 1), ("new", 2)):
        (tmp_path / model).mkdir()
        answers = [(number, 1, {"match": float(number % (2 + offset) > 0)}) for number in range(6)]
        inspect_log(tmp_path / model / f"2024-0{offset}-01_a.eval", answers, task="arc")
        inspect_log(tmp_path / model / f"2024-0{offset}-02_b.json", answers, task="gsm8k")
        (tmp_path / model / "summary.csv").write_text("task,accuracy\narc,0.5\n")
    columns = Columns().but(slices=("task",))
    found = join(*(read(str(tmp_path / model), columns) for model in ("old", "new")), columns)
    assert found.n == 12
    assert found.units.slices["task"][0] == ("arc", "gsm8k")
    inspect_log(tmp_path / "old" / "again.json", answers, task="arc")
    with pytest.raises(ValueError, match=r"old: .*again\.json and .*\.eval are both of the task 'arc'; expected one"):
        read(str(tmp_path / "old"), columns)
    inspect_log(tmp_path / "old" / "a-retry.json", [(1, 1, {"match": 0.5})], task="arc")
    (tmp_path / "old" / "again.json").unlink()
    found = read(str(tmp_path / "old"), Columns(duplicates="last"))
    assert found.score.values.to_pylist()[found.ids.to_pylist().index("arc/1")] == 0.5
    assert len(found.ids) == 12


@pytest.mark.parametrize("harness", ["inspect", "lm-eval"])
def test_a_folder_of_several_models_is_not_read_as_one(tmp_path, printed, refused, harness):
    right = {"ai/large": 16, "ai/small": 10}
    for model, number in right.items():
        for task in ("arc", "boolq"):
            (folder := tmp_path / "logs" / model.replace("/", "__")).mkdir(parents=True, exist_ok=True)
            if harness == "inspect":
                log = [(item, 1, {"match": float(item < number)}) for item in range(20)]
                inspect_log(folder / f"{task}.json", log, task=task, model=model)
            else:
                log = [{"filter": "none", "acc": float(item < number)} for item in range(20)]
                harness_log(folder / f"samples_{task}_2025-01-01T00-00-00.0.jsonl", log)
    path = tmp_path / "logs"
    several = "--model: there are 2; choose one of ai/large, ai/small"
    assert several in refused("check", path, "--at-least", "0.2")
    assert "ai/large" in printed("rank", path).splitlines()[0]
    next((path / "ai__large").glob("*boolq*")).unlink()  # the models have different tasks
    assert several in refused("check", path, "--at-least", "0.2")
    for model, number in right.items():
        scores = read(str(path), Columns().but(model=model)).score.values.to_pylist()
        assert np.mean(scores) == number / 20
        assert len(scores) == (20 if model == "ai/large" else 40)
    assert "'ai/tiny' was not found; expected one of ai/large, ai/small" in refused(
        "check", path, "--at-least", "0.2", "--model", "ai/tiny"
    )


def test_the_shards_of_a_run_are_one_task_unless_they_repeat_an_id(tmp_path):
    for shard, numbers in enumerate((range(12), range(12, 20), range(19, 24))):
        (folder := tmp_path / f"run_{shard == 2}.shards" / str(shard)).mkdir(parents=True)
        inspect_log(
            folder / "log.eval", [(number, 1, {"match": float(number % 3 > 0)}) for number in numbers], task="arc"
        )
    both = read(str(tmp_path / "run_False.shards"), Columns())
    assert len(both.ids) == 20
    with pytest.raises(ValueError, match=r"1 of 25 answers repeat an id: id 'arc/19'"):
        read(str(tmp_path), Columns())


def test_a_folder_that_cannot_be_one_file_of_predictions_is_refused(tmp_path):
    with pytest.raises(ValueError, match="no file matches this folder or pattern"):
        read(str(tmp_path), Columns())
    (tmp_path / "notes.txt").write_text("a, b\n")
    with pytest.raises(ValueError, match=r"contains no file of predictions; expected .*Inspect.*JSON lines"):
        read(str(tmp_path), Columns())
    with pytest.raises(ValueError, match="no file matches this folder or pattern"):
        read(str(tmp_path / "*.eval"), Columns())
    inspect_log(tmp_path / "a.eval", [(1, 1, {"match": 1.0})])
    harness_log(tmp_path / "samples_b.jsonl", [{"acc": 1.0}])
    with pytest.raises(ValueError, match=r"contains an Inspect log .* and the samples of lm-evaluation-harness"):
        read(str(tmp_path), Columns())


@pytest.mark.parametrize(
    ("content", "appearance"),
    [
        (b"\x80\x04\x95\x10\0\0\0", "a pickle"),
        (b"\0" * 100, "binary data"),
        ("id,label".encode("utf-16-le"), "text in UTF-16 without a byte order mark"),
        (b"just words\nin three lines\n", "text whose first line is 'just words'"),
        (b"[[1, 2], [3]]", "a JSON array of list"),
        (b"[", "JSON that is damaged at line 1, column 2"),
    ],
)
def test_an_unknown_file_is_answered_with_what_it_looks_like(tmp_path, content, appearance):
    (tmp_path / "a").write_bytes(content)
    with pytest.raises(ValueError, match=f"a: looks like {appearance}.*; expected .*JSON lines") as caught:
        read(str(tmp_path / "a"), Columns())
    assert all(module.NAME in str(caught.value) for module in REGISTRY.modules().values())


RESULTS = {"results": {"arc_easy": {"alias": "arc_easy", "acc,none": 0.71}}, "config": {"model": "hf"}}


@pytest.mark.parametrize("more", [{"n-samples": {"arc_easy": {"effective": 2376}}}, {"versions": {"arc_easy": 1}}])
def test_results_of_lm_eval_without_samples_say_how_to_log_them(tmp_path, more):
    (tmp_path / "results_a.json").write_text(json.dumps(RESULTS | more))
    wanted = r"results of lm-evaluation-harness without answers; run with --log_samples, which writes samples_\*.jsonl$"
    with pytest.raises(ValueError, match=wanted):
        read(str(tmp_path / "results_a.json"), Columns())


def scored(score):
    return "\n".join(json.dumps({**row, "score": score}) for row in ROWS)


def damaged_log(path):
    inspect_log(path, [(number, 1, {"match": 1.0}) for number in range(3)])
    with zipfile.ZipFile(path) as archive:
        place = archive.infolist()[1].header_offset
    content = bytearray(path.read_bytes())
    content[place + 60] ^= 0xFF
    path.write_bytes(content)


#: So deep that Python's own parser gives up.
DEEP = "[" * 10**5 + "]" * 10**5


def nested():
    return "\n".join(json.dumps(row)[:-1] + ', "x": ' + DEEP + "}" for row in ROWS)


#: Files that ended with 3, or whose complaint named no file.
BAD = {
    "400 digits.jsonl": lambda path: path.write_text(scored(0.5) + "\n" + scored(10**400)),
    "5000 digits.jsonl": lambda path: path.write_text(scored(0.5) + "\n" + scored("x").replace('"x"', "9" * 5000)),
    "400 digits.eval": lambda path: inspect_log(path, [(1, 1, {"score": 10**400})]),
    "damaged.eval": damaged_log,
    "epoch.eval": lambda path: (
        inspect_log(path.with_suffix(".json"), [(1, [1], {"score": 1.0})])
        and path.write_bytes(path.with_suffix(".json").read_bytes())
    ),
    "surrogate.jsonl": lambda path: path.write_text(TEXTS["json lines"].replace("dog", "\\ud800")),
    "surrogate.json": lambda path: path.write_text(TEXTS["json array"].replace("dog", "\\ud800")),
    "target.jsonl": lambda path: harness_log(path, [{"acc": 1.0, "target": "\ud800"}]),
    "task.json": lambda path: inspect_log(path, [(1, 1, {"score": 1.0})], task="\udfff"),
    "nested.jsonl": lambda path: path.write_text(nested()),
    "nested.json": lambda path: path.write_text(
        '{"version": 2, "eval": {}, "samples": ' + "[" * 10**5 + "]" * 10**5 + "}"
    ),
    "nested array.json": lambda path: path.write_text(
        "[" + TEXTS["json array"][1:-1] + ", " + "[" * 10**5 + "]" * 10**5
    ),
    "damaged.gz": lambda path: path.write_bytes(gzip.compress(os.urandom(1000))[:-600]),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_ends_with_2_and_one_line_that_names_the_file(tmp_path, refused, name):
    BAD[name](tmp_path / name)
    score = ["--score", "score"] if "400" in name or "5000" in name or "epoch" in name else []
    said = refused("compare", tmp_path / name, tmp_path / name, *score)
    assert said.startswith(f"sigstats: {tmp_path / name}")
    assert said.count("\n") == 1


def test_a_path_that_is_no_text_is_compared_and_written(tmp_path, capsys):
    paths = [os.fsdecode(bytes(tmp_path) + b"/caf\xe9" + ending) for ending in (b".csv", b".jsonl")]
    for path, text in zip(paths, (TEXTS["csv"], TEXTS["json lines"]), strict=True):
        Path(path).write_text(text)
    written = [str(tmp_path / name) for name in ("a.json", "a.html", "a.md")]
    code = main(["compare", *paths, "--json", written[0], "--report", written[1], "--report", written[2]])
    assert code == 0
    capsys.readouterr().out.encode()
    for path in written:
        assert "xe9" in Path(path).read_text(encoding="utf-8") or path.endswith(".md")


@pytest.mark.parametrize(
    "url", ["reference://x", "s3://", "memory://none.csv", "nosuch://a.csv", "file:///none.csv", "x://[*"]
)
def test_a_url_that_cannot_be_read_ends_with_2(refused, url):
    said = refused("compare", url, url)
    assert said.startswith(f"sigstats: {url.removeprefix('file://') if url.startswith('file') else url}") or url in said
    assert said.count("\n") == 1


SEEDS = [text.encode() for text in TEXTS.values()]
BITS = [b"", b"\0", b"\xff\xfe", b"\x1f\x8b\x08\0", b"BZh9", b"PK\x03\x04", b"PAR1", b'"', b"[", b"{", b"}", b"]"]
BITS += [b"1e999", b"-", b"9" * 400, b"\\ud800", b"null", b"NaN", b"\xc3\x28", b",", b"\n", b"\x28\xb5\x2f\xfd"]


@st.composite
def spoiled(draw, seeds):
    content = bytearray(draw(st.sampled_from(seeds)))
    for _ in range(draw(st.integers(1, 4))):
        first = draw(st.integers(0, len(content)))
        content[first : first + draw(st.integers(0, 12))] = draw(st.sampled_from(BITS) | st.binary(max_size=6))
    return draw(st.sampled_from([bytes, bytes, gzip.compress]))(bytes(content))


def fuzzed(test):
    quick = settings(max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.too_slow])
    return quick(test)


def read_or_one_line(path, **columns):
    try:
        assert len(read(str(path), Columns().but(**columns)).ids)
    except ValueError as error:
        assert str(error).startswith(str(path))
        assert "\n" not in str(error)
        assert len(str(error)) < 2000


@fuzzed
@given(content=spoiled(SEEDS) | st.binary(max_size=60))
def test_whatever_bytes_a_table_holds_it_is_read_or_refused_in_one_line(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("fuzz") / "a"
    path.write_bytes(content)
    read_or_one_line(path)


@pytest.fixture(scope="module")
def log_seeds(tmp_path_factory):
    folder = tmp_path_factory.mktemp("seeds")
    answers = [(number, 1, {"match": "C", "other": 0.5}) for number in range(3)]
    paths = [inspect_log(folder / name, answers) for name in ("a.eval", "a.json")]
    paths.append(harness_log(folder / "b.jsonl", [{"acc": 1.0, "metrics": ["acc"], "filter": "none"}] * 3))
    return [Path(path).read_bytes() for path in paths]


@fuzzed
@given(data=st.data())
def test_whatever_bytes_a_log_holds_it_is_read_or_refused_in_one_line(tmp_path_factory, log_seeds, data):
    path = tmp_path_factory.mktemp("fuzz") / "a"
    path.write_bytes(data.draw(spoiled(log_seeds)))
    read_or_one_line(path, slices=("site",))
    read_or_one_line(path, score="match")


# Files of whoever writes them otherwise

NESTED = [
    {
        "meta": {"key": row["id"], "site": "ab"[n % 2]},
        "truth": {"text": row["label"]},
        "said": {"by": {"m": row["prediction"]}},
    }
    for n, row in enumerate(ROWS)
]
WHERE = ["id=meta.key", "label=truth.text", "prediction=said.by.m"]


def written(path, rows):
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
    elif path.suffix == ".jsonl":
        path.write_text("\n".join(map(json.dumps, rows)))
    else:
        path.write_text(json.dumps(rows if path.stem == "array" else {"about": {}, "out": {"rows": rows}}, indent=1))
    return str(path)


@pytest.mark.parametrize("name", ["a.jsonl", "array.json", "a.parquet"])
def test_columns_are_found_where_they_are_said_to_be(tmp_path, answer, name):
    path = written(tmp_path / name, NESTED)
    plain = tmp_path / "plain.csv"
    lines = [f"{row['id']},{row['label']},{row['prediction']},{'ab'[n % 2]}" for n, row in enumerate(ROWS)]
    plain.write_text("\n".join(["meta.key,truth.text,said.by.m,meta.site", *lines]))
    places = [f"--{each}" for each in WHERE]
    rows = answer("compare", plain, path, *places, "--slice", "meta.site", code=0)["rows"]
    assert [row["n"] for row in rows] == [12, 6, 6]
    assert [row["difference"] for row in rows] == [0, None, None]


def test_an_object_whose_rows_are_not_named_says_its_keys(tmp_path):
    path = written(tmp_path / "object.json", NESTED)
    remedy = f"jq .out.rows {path} > rows.json"
    with pytest.raises(ValueError, match=f"looks like a JSON object with .*; write its rows to a file: {remedy}$"):
        read(path, Columns())
    assert len(read(path, Columns("meta.key", "truth.text", "said.by.m").but(rows="out.rows")).ids) == len(NESTED)
    for key, quoted in (("run", ".run"), ("a b", "'.\"a b\"'"), ("it's", "'.\"it'\"'\"'s\"'"), ("é", "'.\"\\u00e9\"'")):
        Path(path).write_text(json.dumps({"about": 1, key: NESTED, "more": [1]}))
        with pytest.raises(ValueError, match=re.escape(f"file: jq {quoted} ")):
            read(path, Columns())
    written(tmp_path / "object.json", NESTED)
    with pytest.raises(ValueError, match="rows: 'out' is not valid; expected a key with a list"):
        read(path, Columns().but(rows="out"))
    with pytest.raises(ValueError, match=r"column 'truth\.words' was not found"):
        read(path, Columns().but(rows="out.rows", id="meta.key", label="truth.words"))
    path = written(tmp_path / "a.parquet", NESTED)
    for label in ("truth.words", "truth.text.more", "none.text"):
        with pytest.raises(ValueError, match=f"column '{label}' was not found"):
            read(path, Columns(id="meta.key", label=label))


def test_each_task_of_a_folder_takes_its_only_score_and_filter(tmp_path):
    """A task marked by `match`, one by `judge` and one by both; marks and names are those that were written."""
    for name, scores in (("a", {"match": 1}), ("b", {"judge": 0}), ("c", {"match": 0, "judge": 1})):
        inspect_log(tmp_path / f"{name}.json", [(1, 1, scores)], task=name)
    two = read(str(tmp_path / "[ab].json"), Columns())
    assert dict(zip(two.ids.to_pylist(), two.score.values.to_pylist(), strict=True)) == {"a/1": 1, "b/1": 0}
    assert two.source.subject["scorer"] == "match, judge"
    for named, marks in (("match", [1, 0, 0]), ("judge", [1, 0, 1])):
        found = read(str(tmp_path), Columns(score=named))
        assert found.score.values.to_pylist() == marks
        assert found.source.subject["scorer"] == "match, judge"
    with pytest.raises(ValueError, match=r"score: there are 2; choose one of match, judge \(--score NAME"):
        read(str(tmp_path), Columns())
    inspect_log(tmp_path / "d.json", [(1, 1, {"x": 0, "y": 1})], task="d")
    with pytest.raises(ValueError, match="score: 'match' was not found in task 'd'; expected one of x, y"):
        read(str(tmp_path), Columns(score="match"))


def test_all_scores_of_unlike_tasks_are_each_tested_on_the_tasks_that_have_it(tmp_path, capsys):
    """A task marked by `match`, one by both, one by `f1`: means and p are those of each score by itself."""
    scores = {"a": (["match"], 40), "b": (["match", "judge"], 60), "c": (["f1"], 50)}
    rng = np.random.default_rng(8)
    marks = {}
    for model, chance in (("old", 0.9), ("new", 0.5)):
        (tmp_path / model).mkdir()
        for task, (names, n) in scores.items():
            marks |= {(model, task, name): rng.random(n) < chance for name in names}
            answers = [(i, 1, {name: "CI"[not marks[model, task, name][i]] for name in names}) for i in range(n)]
            inspect_log(tmp_path / model / f"{task}.json", answers, task=task)
    paths = [str(tmp_path / "old"), str(tmp_path / "new")]
    target = tmp_path / "found.json"
    assert main(["compare", *paths, "--score", "all", "--slice", "task", "--json", str(target)]) == 1
    rows = {(row["score"], row["slice"]): row for row in json.loads(target.read_text())["rows"]}
    assert "note: score 'f1' exists only in task c" in capsys.readouterr().out
    every = {(name, f"task = {task}"): [task] for task, (names, _) in scores.items() for name in names}
    every |= {(name, "all rows"): [t for t, (names, _) in scores.items() if name in names] for name, _ in every}
    assert rows.keys() - every.keys() == {("match", "mean over tasks")}  # the only one of several tasks
    for (name, part), tasks in every.items():
        a, b = (np.concatenate([marks[model, task, name] for task in tasks]) for model in ("old", "new"))
        row = rows[name, part]
        assert (row["n"], row["baseline"], row["candidate"]) == (len(a), a.mean(), b.mean())
        counts = int((a & ~b).sum()), int((b & ~a).sum())
        assert row["p_worse"] == sigstats.mcnemar_test(*counts, alternative="greater").pvalue
    frame = sigstats.read_predictions(paths[0], score="all")
    assert {name: int(frame[name].notna().sum()) for name in ("match", "judge", "f1")} == {
        name: rows[name, "all rows"]["n"] for name in ("match", "judge", "f1")
    }


def test_a_filter_is_named_for_the_tasks_that_have_several(tmp_path):
    documents = [{"acc": 1, "metrics": ["acc"], "filter": "strict"}, {"acc": 0, "metrics": ["acc"], "filter": "loose"}]
    harness_log(tmp_path / "samples_a.jsonl", [{**each, "doc_id": 0} for each in documents])
    harness_log(tmp_path / "samples_b.jsonl", [{"acc": 1, "metrics": ["acc"], "filter": "none"}])
    found = read(str(tmp_path), Columns().but(filter="loose"))
    assert dict(zip(found.ids.to_pylist(), found.score.values.to_pylist(), strict=True)) == {"a/0": 0, "b/0": 1}
    assert found.source.subject["filter"] == "loose, none"


@pytest.mark.parametrize(
    "change",
    [
        {"columns": ["id", "label", "prediction", "prediction "]},
        {"columns": ["id", "label", "prediction"]},
        {"index": [0], "columns": ["number", "label", "prediction", "region"]},
    ],
)
def test_a_table_in_pandas_form_whose_parts_do_not_fit_is_refused(tmp_path, change):
    whole = {"columns": ["id", "label", "prediction", "region"], "data": [[1, 0, 0, "a"], [2, 1, 0, "b"]]}
    (tmp_path / "a.json").write_text(json.dumps(whole))
    assert len(read(str(tmp_path / "a.json"), Columns()).ids) == 2
    (tmp_path / "a.json").write_text(json.dumps({**whole, **change}))
    with pytest.raises(ValueError, match="columns, index and data do not fit"):
        read(str(tmp_path / "a.json"), Columns())


@pytest.mark.parametrize("harness", ["inspect", "lm-eval", "humaneval", "openai"])
def test_a_key_that_a_log_has_twice_is_refused(tmp_path, harness):
    path = tmp_path / "log.json"
    if harness == "inspect":
        inspect_log(path, [(number, 1, {"match": 1.0}) for number in range(4)])
        once, again = '"value": 1.0', '"value": 0.0'
    elif harness == "lm-eval":
        harness_log(path, [{"acc": 1.0}] * 4)
        once, again = '"acc": 1.0', '"acc": 0.0'
    elif harness == "humaneval":
        path.write_text("".join(json.dumps({"task_id": f"h/{n}", "passed": True}) + "\n" for n in range(4)))
        once, again = '"passed": true', '"passed": false'
    else:
        events = [{"spec": {"eval_name": "e"}}]
        events += [{"sample_id": f"s.{n}", "type": "match", "data": {"correct": True}} for n in range(4)]
        path.write_text("".join(json.dumps(event) + "\n" for event in events))
        once, again = '"correct": true', '"correct": false'
    assert len(read(str(path), Columns()).ids) == 4
    text = path.read_text()
    assert once in text
    path.write_text(text.replace(once, f"{once}, {again}", 1))
    with pytest.raises(ValueError, match=rf"key '{once.split(chr(34))[1]}' appears more than once"):
        read(str(path), Columns())


@pytest.mark.parametrize("ending", ["npy", "npz"])
def test_arrays_that_were_put_together_as_bytes_are_refused(tmp_path, ending):
    once = io.BytesIO()
    np.save(once, np.arange(4) % 2) if ending == "npy" else np.savez(once, id=np.arange(4), label=np.arange(4) % 2)
    (tmp_path / f"a.{ending}").write_bytes(once.getvalue())
    columns = Columns(label="label", prediction="label", by_position=None)
    assert len(read(str(tmp_path / f"a.{ending}"), columns).ids) == 4
    (tmp_path / f"a.{ending}").write_bytes(2 * once.getvalue())
    with pytest.raises(ValueError, match=r"has more than one array|follows other content"):
        read(str(tmp_path / f"a.{ending}"), columns)


def test_rows_that_only_one_of_two_models_of_a_file_has_are_noted_for_each(tmp_path):
    path = tmp_path / "m.csv"
    rows = [*(f"{number},a,1,1" for number in range(1, 4)), *(f"{number},b,1,0" for number in range(2, 6))]
    path.write_text("\n".join(["id,model,label,prediction", *rows]) + "\n")
    sides = [read(str(path), Columns().but(model=model)) for model in "ab"]
    told = [str(note) for note in join(*sides, Columns(), unmatched="drop").notes if note.name == "unmatched-rows"]
    assert ["of the baseline" in text and "'1'" in text for text in told] == [True, False]
    assert "'4', '5'" in told[1]
    assert "of the candidate" in told[1]
