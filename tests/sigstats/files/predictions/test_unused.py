"""Columns that are not used, but state that some rows are of another kind."""

import pandas as pd
import pytest

import sigstats

from ....tables import save


@pytest.fixture
def table(tmp_path):
    """Writes twelve rows with a further column, whose three values are repeated."""

    def write(name, values, kind="csv"):
        frame = pd.DataFrame({"label": ["a", "b"] * 6, "prediction": ["a", "b", "b"] * 4, name: values * 4})
        frame.insert(0, "id", range(12))
        return save(frame, tmp_path / f"answers.{kind}")

    return write


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "values", "told"),
    [
        ("split", ["train", "test", "test"], "4 of 12 rows have 'train' in column 'split'"),
        ("error", [None, "RateLimitError: 429", None], "4 of 12 rows have 'RateLimitError: 429' in column 'error'"),
        ("Status", ["ok", "Timed out", "timeout"], "8 of 12 rows have 'Timed out', 'timeout' in column 'Status'"),
        ("split", ["train", "train", "train"], ""),  # all rows are of one kind
        ("data_split", ["fit", "test", "test"], "4 of 12 rows have 'fit' in column 'data_split'"),
        ("train_test", ["test", "train", "train"], "8 of 12 rows have 'train' in column 'train_test'"),
        ("is_train", [1, 0, 0], "4 of 12 rows have '1' in column 'is_train'"),
        ("inTraining", [True, False, True], "8 of 12 rows have 'true' in column 'inTraining'"),
        ("train", ["yes", "no", "no"], "4 of 12 rows have 'yes' in column 'train'"),
        ("valid", [0, 1, 1], "4 of 12 rows have '0' in column 'valid'"),
        ("finish_reason", ["length", "stop", "stop"], "4 of 12 rows have 'length' in column 'finish_reason'"),
        ("success", [False, True, True], "4 of 12 rows have 'false' in column 'success'"),
        ("ok", [1, 1, 0], "4 of 12 rows have '0' in column 'ok'"),
        ("timed_out", [True, False, False], "4 of 12 rows have 'true' in column 'timed_out'"),
        ("parse_error", [1, 0, 0], "4 of 12 rows have '1' in column 'parse_error'"),
        ("parse_error", ["Expecting value", None, None], "4 of 12 rows have 'Expecting value' in column 'parse_error'"),
        ("refused", ["no", "yes", "no"], "4 of 12 rows have 'yes' in column 'refused'"),
        ("http_status", [200, 429, 500], "8 of 12 rows have '429', '500' in column 'http_status'"),
        ("http_status", [200, 204, 301], ""),
        ("timeout", [30, 60, 90], ""),  # in seconds
        ("refused_before", [True, False, False], ""),
        ("dataset", ["train", "test", "dev"], "4 of 12 rows have 'train' in column 'dataset'"),
        ("dataset", ["train", "plane", "test"], ""),
        ("dataset", ["test", "dev", "dev"], ""),
        ("fold", [1, 2, 3], ""),
        ("test", [0, 1, 1], ""),  # a test may have been passed
        ("train_loss", [1, 0, 0], ""),
        ("language", ["train", "test", "test"], ""),
        ("error", ["no", "none", None], ""),
        ("error", [0.5, 7, 2], ""),
    ],
)
@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl"])
def test_a_note_counts_them(table, answer, name, values, told, kind):
    path = table(name, values, kind)
    result = answer("check", path, "--at-least", "0.1")
    notes = [note["text"] for note in result["notes"] if note["name"] == "unused-column"]
    notes = [note.replace("'True'", "'true'").replace("'False'", "'false'") for note in notes]  # as a file has them
    assert notes == [f"{told}, which is not used; they count like the other rows"] * bool(told)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("sample_weight", [1, 30, 2]),
        ("stands_for", [1, 30, 2]),
        ("sample_weight", [1, 1, 1]),
        ("weight", [70, 80, 90]),
        ("weight", [1, 30, 2]),
    ],
)
def test_weights_of_rows_that_are_not_used_are_told(table, printed, name, values):
    path = table(name, values)
    told = f"column '{name}' is not used: rows count equally (compare --weights)"
    assert (told in printed("check", path, "--at-least", "0.1", code=(0, 1))) == (30 in values)
    other = path.rename(path.with_name("other.csv"))
    assert "not used" not in printed("compare", other, table(name, values), "--weights", name, code=(0, 1))


def test_weights_beside_measurements_may_be_of_persons():
    frame = pd.DataFrame({"id": range(60), "label": [0, 1] * 30, "prediction": [0, 1] * 30, "weight": [3, 81, 75] * 20})
    told = "column 'weight' is not used: rows count equally (compare --weights)"
    for more, noted in (({}, True), ({"height_cm": 170}, False), ({"weight": ["light", "heavy"] * 30}, False)):
        assert (told in sigstats.check(frame.assign(**more), at_least=0.5).notes) == noted
    frame["weight"] = [0.97, 1.01, 1.02] * 20  # their mean is 1
    assert told in sigstats.check(frame, at_least=0.5).notes


def test_a_column_that_divides_the_rows_is_used(table, printed):
    path = table("split", ["train", "test", "test"])
    assert "not used" not in printed("check", path, "--at-least", "0.1", "--slice", "split", code=(0, 1))


@pytest.mark.parametrize("name", ["success", "is_ok"])
def test_a_column_of_success_that_is_the_verdict_is_not_told(table, printed, name):
    path = table(name, [1, 1, 1])
    frame = pd.read_csv(path)
    frame.assign(**{name: frame.label == frame.prediction}).to_csv(path, index=False)
    assert "not used" not in printed("check", path, "--at-least", "0.1", code=(0, 1))


@pytest.mark.parametrize("name", ["support", "n_images", "num_examples", "n_tokens", "num_turns"])
def test_numbers_of_rows_behind_a_score_are_told(tmp_path, printed, name):
    frame = pd.DataFrame({"id": range(12), "f1": [0.5, 0.7, 0.9] * 4, name: [10, 200, 3, 40] * 3})
    path = save(frame, tmp_path / "classes.csv")
    told = f"column '{name}' is not used: rows count equally (compare --weights)"
    counted = not name.endswith(("tokens", "turns"))
    command = "check", path, "--score", "f1", "--at-least", "0.1"
    assert (told in printed(*command, code=(0, 1))) == counted
    save(frame.assign(**{name: 10}), path)
    assert "not used" not in printed(*command, code=(0, 1))


@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl"])
@pytest.mark.parametrize("values", [[1, 0, 1], [True, False, True], ["True", None, "true"]])
def test_a_column_of_verdicts_that_contradicts_the_predictions_is_told(table, printed, values, kind):
    """Rows 0, 1, 4, 5, 8 and 9 of twelve are right."""
    right = [number % 4 < 2 for number in range(12)]
    odd = sum(values[number % 3] is not None and bool(values[number % 3]) != right[number] for number in range(12))
    told = (
        f"column 'correct', which is not used, contradicts label and prediction in {odd} of 12 rows (--score correct)"
    )
    path = table("correct", values, kind)
    assert told in printed("check", path, "--at-least", "0.1", code=(0, 1))
    assert "not used" not in printed("check", path, "--prediction", "prediction", "--at-least", "0.1", code=(0, 1))
    same = table("correct", ["b", "a", "b"], kind)  # answers
    assert "not used" not in printed("check", same, "--at-least", "0.1", code=(0, 1))


@pytest.mark.parametrize(
    ("first", "score", "noted"),
    [("epoch", "val_accuracy", True), ("Step", "loss", True), ("threshold", "f1", True), ("fold", "f1", False)],
)
def test_epochs_and_thresholds_of_one_model_are_no_items(tmp_path, answer, printed, first, score, noted):
    frame = pd.DataFrame({first: [n / 60 for n in range(60)], score: [1 - 0.6 / (n + 2) for n in range(60)]})
    path, other, told = (
        save(frame, tmp_path / "a.csv"),
        save(frame, tmp_path / "b.csv"),
        "seem to be epochs or settings",
    )
    bar = "--at-most" if score == "loss" else "--at-least"
    text = printed("check", path, "--score", score, bar, "0.85", code=(0, 1))
    assert (told in text.partition("\n")[0], f"column '{first}' increases from row to row" in text) == (noted, noted)
    notes = answer("compare", path, other, "--score", score, "--id", first)["notes"]
    assert ("one-history" in {note["name"] for note in notes}) == noted
    for honest in (frame[::-1], frame.assign(**{score: [0, 1] * 30})):  # items in another order, and marks
        save(honest, path)
        assert told not in printed("check", path, "--score", score, bar, "0.85", code=(0, 1))
