"""`sigstats rank`: rank sets of files, whatever their form, and what is refused."""

import json

import numpy as np
import pandas as pd
import pytest

import sigstats
from sigstats import rank_models
from sigstats.flows.commands import main
from sigstats.ranking.rank_sets import rank_sets
from sigstats.sizing.leaderboards import leaderboard_size

from ...sigstats.files.predictions.logs import inspect_log
from ..conftest import as_outputs

CHANCES = {"good": 0.9, "tied": 0.89, "bad": 0.6}


def frames(n=400, seed=0):
    rng = np.random.default_rng(seed)
    label = rng.choice(["x", "y", "z"], n)
    region = rng.choice(["N", "S"], n)
    return {
        name: pd.DataFrame(
            {
                "id": np.arange(n),
                "label": label,
                "prediction": np.where(rng.random(n) < chance, label, "z"),
                "region": region,
                "person": np.arange(n) // 4,
                "mark": rng.random(n).round(1) + chance,
            }
        )
        for name, chance in CHANCES.items()
    }


def written(folder, tables, form="csv"):
    paths = []
    for name, table in tables.items():
        path = folder / f"{name}.{form}"
        if form == "csv":
            table.to_csv(path, index=False)
        else:
            table.to_json(path, orient="records", lines=True)
        paths.append(str(path))
    return paths


def ranked(folder, *arguments, code=0):
    target = folder / "found.json"
    assert main(["rank", *map(str, arguments), "--json", str(target)]) == code
    return json.loads(target.read_text())


def test_files_are_ranked_as_their_table_is(tmp_path, capsys):
    tables = frames()
    shuffled = {name: table.sample(frac=1, random_state=i) for i, (name, table) in enumerate(tables.items())}
    found = ranked(tmp_path, *written(tmp_path, shuffled), "--slice", "region")
    right = np.column_stack([table["prediction"] == table["label"] for table in tables.values()])
    sets = rank_sets(right, models=list(tables))
    assert found["n"] == 400
    for model in found["models"]:
        at = sets.models.index(model["model"])
        assert (model["rank_low"], model["rank_high"], model["tier"]) == (sets.low[at], sets.high[at], sets.tiers[at])
        assert model["accuracy"] == pytest.approx(right[:, at].mean())
        assert model["file"].endswith(f"{model['model']}.csv")
        assert model["low"] < model["accuracy"] < model["high"]
    assert [pair["better"] for pair in found["pairs"]] == [False, True, True]
    expected = rank_models(right, models=list(tables), slices={"region": tables["good"]["region"].to_numpy()})
    for part, of_array in zip(found["slices"], expected.slices, strict=True):
        assert (part["slice"], part["n"]) == (of_array.slice, of_array.n)
        assert [each["model"] for each in part["models"]] == [each.model for each in of_array.models]
    said = capsys.readouterr().out
    assert "good and tied may each be the best of 3 models" in " ".join(said.split())
    assert "2–" not in next(line for line in said.splitlines() if " bad " in line)


def test_rows_in_groups_and_marks(tmp_path):
    tables = frames()
    paths = written(tmp_path, tables, "jsonl")
    found = ranked(tmp_path, *paths, "--group", "person")
    assert found["groups"] == 100
    right = np.column_stack([table["prediction"] == table["label"] for table in tables.values()])
    sets = rank_sets(right, groups=np.arange(400) // 4, models=list(tables))
    assert {m["model"]: m["rank_high"] for m in found["models"]} == dict(zip(sets.models, sets.high, strict=True))
    found = ranked(tmp_path, *paths, "--score", "mark")
    assert found["measure"] == "mean-score"
    assert found["models"][0]["accuracy"] is None
    assert found["models"][0]["score"] == pytest.approx(max(table["mark"].mean() for table in tables.values()))


def test_rows_that_all_files_have(tmp_path, refused):
    tables = frames(60)
    tables = {"good": tables["good"][5:], "tied": tables["tied"][:50], "bad": tables["bad"][::2]}
    paths = written(tmp_path, tables)
    assert "only in this file" in refused("rank", *paths)
    found = ranked(tmp_path, *paths, "--unmatched", "drop", "--slice", "region")
    rows = [i for i in range(5, 50) if i % 2 == 0]
    assert found["n"] == len(rows)
    assert sum(part["n"] for part in found["slices"]) == len(rows)
    for model in found["models"]:
        table = tables[model["model"]].set_index("id").loc[rows]
        assert model["accuracy"] == pytest.approx((table["prediction"] == table["label"]).mean())
    assert len(found["notes"]) == 4


@pytest.mark.parametrize("options", [[], ["--unscored", "drop"], ["--slice", "topic"], ["--group", "text"]])
def test_two_models_of_unlike_numbers_of_answers_are_ranked_as_they_are_compared(tmp_path, options):
    """Both show the same difference; in Python too."""
    rng = np.random.default_rng(3)
    paths, marks = [], {}
    for side, most in (("a", 1), ("b", 4)):
        samples = [
            {
                "id": item,
                "epoch": epoch,
                "metadata": {"topic": f"t{item % 2}", "text": item // 2},
                "scores": {}
                if "drop" in options and (side, item, epoch) == ("b", 2, 3)
                else {"match": {"value": right}},
            }
            for item in range(30)
            for epoch in range(1, most + 1)
            for right in [int(rng.random() < (0.9 if side == "a" else 0.4))]
        ]
        paths.append(inspect_log(tmp_path / f"{side}.json", [], samples=samples, model=side))
        marks[side] = {(s["id"], s["epoch"]): each["value"] for s in samples for each in s["scores"].values()}
    target = tmp_path / "compared.json"
    main(["compare", *paths, *options, "--json", str(target)])
    row = json.loads(target.read_text())["rows"][0]
    found = ranked(tmp_path, *paths, *options)
    (pair,) = found["pairs"]
    assert (pair["a"], pair["b"], found["n"]) == ("a", "b", 30)
    assert max(pair["pvalue"], row["p_worse"]) < 0.01
    assert pair["difference"] == pytest.approx(-row["difference"])
    if "--slice" in options:
        assert [(part["slice"], part["n"]) for part in found["slices"]] == [("topic = t0", 15), ("topic = t1", 15)]
    keys = sorted(set(marks["a"]) | set(marks["b"]))
    frame = pd.DataFrame({"item": [key[0] for key in keys], **{s: [marks[s].get(key) for key in keys] for s in "ab"}})
    frame["text"] = frame["item"] // 2
    chosen = {"groups": "text"} if "--group" in options else {}
    (again,) = sigstats.rank_models(frame, models=["a", "b"], items="item", **chosen).pairs
    assert again.pvalue == pytest.approx(pair["pvalue"], rel=1e-12, abs=0)


def test_markdown_and_page_name_every_model_and_escape_it(tmp_path):
    paths = written(tmp_path, dict(zip(("<b>one", "two|three", "four"), frames(80).values(), strict=True)))
    places = tmp_path / "table.md", tmp_path / "page.html"
    reports = [part for place in places for part in ("--report", str(place))]
    assert main(["rank", *paths, *reports, "--slice", "region"]) == 0
    markdown, page = (place.read_text() for place in places)
    assert "two\\|three" in markdown
    assert "`<b>one`" in markdown
    assert "&lt;b&gt;one" in page
    assert "<b>one" not in page
    assert "region = N" in page


def test_files_of_one_name_are_told_apart(tmp_path):
    paths = []
    for folder, (_, table) in zip(("old", "new"), frames(60).items(), strict=False):
        (tmp_path / folder).mkdir()
        paths += written(tmp_path / folder, {"predictions": table})
    found = ranked(tmp_path, *paths)
    assert {model["model"] for model in found["models"]} == {"old/predictions", "new/predictions"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["good.csv"], "expected two or more"),
        (["good.csv", "bad.csv", "--alpha", "1"], "--alpha: 1"),
        (["good.csv", "bad.csv", "--alpha", "0.95"], "--alpha: 0.95 is not valid; expected a number strictly between"),
        (["good.csv", "bad.csv", "--slice", "site"], "column 'site' was not found"),
        (["good.csv", "nosuch.csv"], "nosuch.csv"),
        (["good.csv", "bad.csv", "./good.csv"], "FILE: './good.csv' is 'good.csv' again"),
        (["good.csv", "s3://bucket/a.csv", "s3://bucket/a.csv"], "is 's3://bucket/a.csv' again"),
        (["good.csv", "other.csv"], "label"),
    ],
)
def test_bad_input_is_one_line_and_code_2(tmp_path, monkeypatch, refused, arguments, message):
    monkeypatch.chdir(tmp_path)
    tables = frames(30)
    written(tmp_path, {**tables, "other": tables["bad"].assign(label="x")})
    said = refused("rank", *arguments, "--json", "found.json")
    assert message in said
    assert len(said.splitlines()) == 1
    assert not (tmp_path / "found.json").exists()


def test_columns_of_one_file_are_ranked_as_files_are(tmp_path):
    tables = frames()
    wide = next(iter(tables.values())).assign(**{name: table["prediction"] for name, table in tables.items()})
    (path,) = written(tmp_path, {"wide": wide})
    named = [word for name in tables for word in ("--prediction", name)]
    of_files, of_columns = ranked(tmp_path, *written(tmp_path, tables)), ranked(tmp_path, path, *named)
    assert [model["model"] for model in of_columns["models"]] == [model["model"] for model in of_files["models"]]
    assert of_columns["pairs"] == of_files["pairs"]


@pytest.mark.parametrize(("rows", "told"), [(6, False), (7, True)])
def test_so_few_rows_that_no_answers_tell_models_apart_are_called_too_few(tmp_path, printed, rows, told):
    """Of three models the first level is 0.05 / 6: six rows have p of 1/64 at least, seven of 1/128."""
    for name, prediction in (("a", 1), ("b", 0), ("c", 0)):
        pd.DataFrame({"id": range(rows), "label": 1, "prediction": prediction}).to_csv(tmp_path / f"{name}.csv")
    first = printed("rank", *(str(tmp_path / f"{name}.csv") for name in "abc")).splitlines()[0]
    assert first == (
        "a is the best of 3 models." if told else "6 rows cannot distinguish 3 models: at least 7 are needed."
    )


def test_a_ratio_and_scores_of_runs_that_are_named_are_what_is_ranked(tmp_path, refused):
    rng = np.random.default_rng(3)
    rows = np.arange(120)
    sums, means, tables = {}, {}, {}
    for number, name in enumerate(["late", "middle", "soon"]):  # the later the better by the predictions
        table = pd.DataFrame({"id": rows % 30, "seed": rows // 30, "label": "x"})
        table["prediction"] = np.where(rng.random(120) < 0.9 - 0.3 * number, "x", "y")
        table["errors"], table["words"] = rng.integers(0, 9 - 3 * number, 120), rng.integers(20, 40, 120)
        table["part"] = rows % 2
        sums[name], means[name] = table.errors.sum() / table.words.sum(), table.errors.mean()
        tables[name] = table
    paths = written(tmp_path, tables)
    found = ranked(tmp_path, *paths, "--score", "errors", "--run", "seed")
    assert {each["model"]: each["score"] for each in found["models"]} == pytest.approx(means)
    assert found["models"][0]["model"] == "soon"
    paths = written(tmp_path, {name: table.assign(id=rows) for name, table in tables.items()})
    found = ranked(tmp_path, *paths, "--measure", "errors/words", "--task", "part")
    assert {each["model"]: each["score"] for each in found["models"]} == pytest.approx(sums)
    assert found["models"][0]["model"] == "soon"
    # what is said of one pair is not said of many
    *texts, error = (note["text"] for note in found["notes"])
    assert texts == [
        "ratio: no mean over tasks is tested; --slice (slices) tests each task",
        "errors/words: the lower is the better",
    ]
    assert error.startswith("ratio of errors/words: p-values by random weights have a Monte-Carlo standard error of at")
    assert "Is a higher 'words/errors' better?" in refused("rank", *paths, "--measure", "words/errors")


def test_scores_of_the_other_class_are_those_of_a_model_that_is_named(tmp_path):
    label = np.repeat(["no", "yes"], 60)
    rng = np.random.default_rng(4)
    tables = {}
    for name, sign in (("first", 1), ("turned", -1), ("third", 1)):
        right = sign * np.where(label == "yes", 1.0, -1.0) + rng.normal(size=120)
        tables[name] = pd.DataFrame(
            {"id": range(120), "label": label, "prediction": label, "p": 1 / (1 + np.exp(-right))}
        )
    options = ("--measure", "auc", "--score", "p", "--positive", "yes")
    (note,) = (note["text"] for note in ranked(tmp_path, *written(tmp_path, tables), *options)["notes"])
    assert note.startswith("scores of turned are lower for the class 'yes'")


def test_a_measure_that_makes_no_use_of_a_cost_is_refused_beside_it(tmp_path, refused):
    tables = frames()
    for number, table in enumerate(tables.values()):
        table["cost"] = number + 1.0
    assert "score: 'cost' is not used by macro-f1" in refused(
        "rank", *written(tmp_path, tables), "--measure", "macro-f1", "--score", "cost"
    )


def test_classes_that_no_model_predicts_or_no_row_has_are_noted(tmp_path, printed):
    label = ["a", "b", "-1"] * 40
    said = {name: ["a", "b", odd] * 40 for name, odd in (("m0", "a"), ("m1", "zz"), ("m2", "b"))}
    frame, files = pd.DataFrame({"id": range(120), "label": label}), []
    for name, values in said.items():
        files.append(str(tmp_path / f"{name}.csv"))
        frame.assign(prediction=values).to_csv(files[-1], index=False)
    out = printed("rank", *files)
    assert f"note: {files[1]}: predictions of classes that no row has: 'zz' (40 rows)" in out
    assert "note: labels of classes that no model predicts: '-1' (40 rows)" in out
    ours = sigstats.rank_models(pd.DataFrame(said), label=label).notes
    assert [note.name for note in ours][:2] == ["class-without-rows", "class-never-predicted"]


@pytest.mark.parametrize("options", [(), ("--measure", "macro-f1"), ("--slice", "region")])
def test_a_file_whose_predictions_are_the_labels_is_noted_as_compare_does(tmp_path, options):
    tables = frames()
    tables["perfect"] = tables["good"].assign(prediction=tables["good"].label)
    paths = written(tmp_path, tables)
    notes = [note["text"] for note in ranked(tmp_path, *paths, *options)["notes"]]
    name = "perfect" if options[:1] == ("--measure",) else paths[-1]
    assert f"{name} equals the label in all 400 rows; check for a leak" in notes
    assert sum("check for a leak" in note for note in notes) == 1


def test_terminal_markdown_json_and_page_give_one_advice(tmp_path, capsys):
    right, files = np.arange(400), []
    for name, wrong in (("best", 20), ("worse", 120)):
        files.append(str(tmp_path / f"{name}.csv"))
        values = np.where(right < wrong, "no", "yes")
        pd.DataFrame({"id": right, "label": ["yes"] * 399 + ["no"], "prediction": values}).to_csv(
            files[-1], index=False
        )
    outputs = {name: tmp_path / f"out.{name}" for name in ("json", "md", "html")}
    assert main(["rank", *files, *as_outputs(*outputs.values())]) == 0
    answer = json.loads(outputs["json"].read_text())["answer"]
    assert answer == {"headline": "best is the best of 2 models", "advice": "Take best."}
    for text in (capsys.readouterr().out, outputs["md"].read_text(), outputs["html"].read_text()):
        assert all(words in text for words in answer.values())


def test_ranks_by_marks_without_known_limits_are_those_in_any_unit_and_state_their_assumption(tmp_path):
    rng = np.random.default_rng(6)
    mark = 0.5 + 0.05 * rng.random(60)
    tables = {"a": mark, "b": mark - 0.02 + 0.01 * rng.random(60)}
    ranks = []
    for unit, name in ((1.0, "reward"), (1000.0, "reward"), (1.0, "f1")):
        files = written(
            tmp_path, {model: pd.DataFrame({"id": range(60), name: unit * x}) for model, x in tables.items()}
        )
        found = ranked(tmp_path, *files, "--higher-is-better", name)
        ranks.append([(model["model"], model["rank_low"], model["rank_high"]) for model in found["models"]])
        assert ("no-limits" in [note["name"] for note in found["notes"]]) == (name == "reward")
    assert ranks[0] == ranks[1] == [("a", 1, 1), ("b", 2, 2)]
    scores = np.column_stack([tables["b"], tables["a"], tables["a"] + 0.01])
    one, other = (leaderboard_size(unit * scores, ["b", "a", "c"], limits=None).neighbours for unit in (1.0, 1e3))
    assert [pair.needed for pair in one] == [pair.needed for pair in other]
    assert one[0].needed == 7  # with 7 rows p may be 1/128, below the first level 0.05/6, and no difference varies
    assert ranks[2] == [("a", 1, 2), ("b", 1, 2)]  # one more row may differ by 1


def test_limits_that_are_stated_are_those_of_rank_models(tmp_path):
    scores = np.random.default_rng(9).integers((1, 0), (7, 6), (40, 2)).astype(float)
    files = written(
        tmp_path, {name: pd.DataFrame({"id": range(40), "mark": scores[:, i]}) for i, name in enumerate("ab")}
    )
    found = ranked(tmp_path, *files, "--higher-is-better", "mark", "--score-range", "0", "9")
    (pair,) = rank_models(scores, models=["a", "b"], score_range=(0, 9)).pairs
    assert found["pairs"][0]["pvalue"] == pytest.approx(pair.pvalue, rel=1e-12)
    assert "no-limits" not in [note["name"] for note in found["notes"]]


def test_models_that_are_copies_are_noted():
    rng = np.random.default_rng(5)
    right = rng.random((200, 2)) < 0.8
    for table, kind in ((right, bool), (rng.random((200, 2)), float)):
        found = rank_models(np.c_[table, table[:, :1]].astype(kind), models=["a", "b", "c"])
        assert found.notes == ("c and a have the same scores in all 200 rows; one may be a copy",)
    assert not rank_models(right, models=["a", "b"]).notes


@pytest.mark.parametrize(
    ("command", "cure"),
    [
        ("rank a.csv b.csv", "expected --measure mean-score for marks, --measure auc for probabilities"),
        ("check a.csv --at-least 0.4", "a bar for probabilities needs --measure neg-brier or neg-log-loss"),
    ],
)
def test_a_column_score_beside_two_classes_is_neither_taken_for_marks_nor_for_probabilities(
    tmp_path, monkeypatch, refused, command, cure
):
    rng, label = np.random.default_rng(0), np.arange(60) % 2
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b"):
        frame = pd.DataFrame({"id": np.arange(60), "label": label, "score": rng.random(60)})
        frame.assign(mark=frame["score"]).to_csv(f"{name}.csv", index=False)
    arguments = command.split()
    assert cure in refused(*arguments, "--score", "score")
    assert main([*arguments, "--score", "score", "--measure", "mean-score"]) == 0
    assert main([*arguments, "--score", "mark"]) == 0


def test_rows_of_one_patient_and_copies_of_rows_are_noted_with_p_without_them(tmp_path, printed):
    """The p is that of `compare` with these groups: here no model is shown to be best."""
    rng = np.random.default_rng(1)
    patient = np.arange(300) // 10
    right = {name: (rng.random(30) < share)[patient] for name, share in (("a", 0.7), ("b", 0.93))}
    tables = {
        name: pd.DataFrame({"id": np.arange(300), "label": 1, "prediction": side.astype(int), "patient": patient})
        for name, side in right.items()
    }
    paths = written(tmp_path, tables)
    assert main(["rank", *paths, "--json", str(tmp_path / "ranks.json")]) == 0
    found = json.loads((tmp_path / "ranks.json").read_text())
    grouped = sigstats.compare(tables["b"], tables["a"], groups="patient").rows[0].pvalue
    (note,) = [each["text"] for each in found["notes"] if each["name"] == "clustered-errors"]
    assert note.startswith("b and a: rows with equal 'patient' differ alike")
    assert float(note.rpartition(" ")[2]) == pytest.approx(grouped, rel=0.01)
    assert "differ alike" not in printed("rank", *paths, "--group", "patient")


def test_a_column_of_costs_gives_the_front(tmp_path, capsys):
    tables = frames()
    for cost, table in zip((4.0, 1.0, 5.0), tables.values(), strict=True):
        table["usd"] = cost + table["mark"]
    page, markdown = tmp_path / "page.html", tmp_path / "found.md"
    outputs = ["--report", page, "--report", markdown]
    found = ranked(tmp_path, *written(tmp_path, tables), "--cost", "usd", *outputs)
    right = np.column_stack([table["prediction"] == table["label"] for table in tables.values()])
    cost = np.column_stack([table["usd"] for table in tables.values()])
    expected = rank_models(right, models=list(tables), cost=cost)
    assert found["front"] == list(expected.front) == ["good", "tied"]
    assert [(row["cost"], row["adjusted_pvalue"]) for row in found["costs"]] == [
        (pytest.approx(of.cost), pytest.approx(of.adjusted_pvalue)) for of in expected.costs
    ]
    said = "By accuracy and usd together, choose among good and tied."
    assert all(said in text for text in (capsys.readouterr().out, page.read_text(), markdown.read_text()))
    assert [row["dominated_by"] for row in found["costs"]][-1] == ["good", "tied"]


@pytest.mark.parametrize("run", [[], ["--run", "seed"]])
def test_debits_are_no_low_costs(tmp_path, refused, run):
    tables = {model: pd.DataFrame({"id": range(40), "right": [1, 0] * 20, "seed": 1}) for model in "abc"}
    for cost, table in zip((2.0, -4.0, 3.0), tables.values(), strict=True):
        table["usd"] = cost
    message = refused("rank", *written(tmp_path, tables), "--score", "right", "--cost", "usd", *run)
    assert "--cost: 'usd' is -4 in a row of b; is a higher one cheaper? Give costs of 0 or more" in message


@pytest.mark.parametrize(
    ("cost", "is_mark"), [("f1", True), ("tokens_per_second", True), ("watts", False), ("loss", False)]
)
def test_a_mark_is_no_cost(tmp_path, capsys, cost, is_mark):
    tables = {model: pd.DataFrame({"id": range(40), "right": [1, 0] * 20, cost: 0.5}) for model in "ab"}
    code = main(["rank", *map(str, written(tmp_path, tables)), "--score", "right", "--cost", cost])
    said = f"--cost: '{cost}' is not valid; expected a cost, since a higher" in capsys.readouterr().err
    assert (code == 2, said) == (is_mark, is_mark)


def test_a_cost_needs_a_file_for_each_model(tmp_path, refused):
    tables = frames()
    wide = tables["good"].assign(usd=1.0, other=tables["bad"]["prediction"])
    wide.to_csv(tmp_path / "wide.csv")
    arguments = ["--prediction", "prediction", "--prediction", "other", "--cost", "usd"]
    assert "--cost: 'usd' is one column for every --prediction; expected a file for each model" in refused(
        "rank", tmp_path / "wide.csv", *arguments
    )
    two_scores = ["--score", "mark", "--score", "usd"]
    assert "--score: 2 were given; expected one" in refused("rank", tmp_path / "wide.csv", *two_scores)


@pytest.mark.parametrize(("last", "noted"), [(0, 0), (1, 3)])
def test_labels_of_one_value_are_noted_unless_any_model_has_the_other_value_in_these_rows(tmp_path, last, noted):
    rng, looked = np.random.default_rng(1), np.arange(300) % 6 == 0
    labels = {model: np.where(looked, 1.0, np.nan) for model in "abc"}
    labels["c"][:60:6] = last
    shares = zip(labels, (0.8, 0.75, 0.6), strict=True)
    tables = {
        model: pd.DataFrame({"id": range(300), "judge": (rng.random(300) < share) * 1}) for model, share in shares
    }
    files = written(tmp_path, {model: table.assign(human=labels[model]) for model, table in tables.items()})
    found = ranked(tmp_path, *files, "--score", "judge", "--human", "human")
    assert [note["name"] for note in found["notes"]].count("labels-of-one-value") == noted
