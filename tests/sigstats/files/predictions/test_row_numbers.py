"""Ids that number the rows of each file, although another column names the items: a join by them is refused."""

import numpy as np
import pandas as pd
import pytest

import sigstats

from ....tables import save

N = 40
ITEMS = [f"What is {k} + {k}?" for k in range(N)]


def marks(seed, **columns):
    """Marks of the items in their order."""
    draws = np.random.default_rng(seed)
    return pd.DataFrame({"question": ITEMS, "f1": draws.random(N).round(2)} | columns)


def numbered(frame, *, seed=None):
    """The rows in another order if there is a seed, with the numbers of rows as ids."""
    frame = frame if seed is None else frame.sample(frac=1, random_state=seed)
    return frame.reset_index(drop=True).rename_axis("id").reset_index()


@pytest.fixture
def files(tmp_path):
    def write(*frames, kind="csv"):
        return [save(frame, tmp_path / f"{name}.{kind}") for frame, name in zip(frames, "abc", strict=False)]

    return write


@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl"])
@pytest.mark.parametrize("command", ["compare", "rank"])
def test_a_join_by_numbers_of_rows_in_another_order_is_refused(files, answer, refused, kind, command):
    first, second = marks(1), marks(2)
    paths = files(numbered(first), numbered(second, seed=3), kind=kind)
    options = ("--score", "f1", "--higher-is-better", "f1")
    message = refused(command, *paths, *options)
    assert "id '0': question" in message
    assert "expected the same questions, or --id question (--allow-different-tasks" in message
    by_item = answer(command, *paths, *options, "--id", "question")
    paths = files(numbered(first), numbered(second), kind=kind)
    in_order = answer(command, *paths, *options)
    rows = {"compare": "rows", "rank": "models"}[command]
    assert by_item[rows] == in_order[rows]


def test_a_repeated_text_and_missing_rows_do_not_hide_the_others(files, refused):
    first, second = marks(1), marks(2)
    for frame in (first, second):
        frame.loc[7, "question"] = ITEMS[3]
    paths = files(numbered(first), numbered(second, seed=3).iloc[:-1])
    assert "id '0': question" in refused("compare", *paths, "--score", "f1", "--unmatched", "drop")
    frames = [frame.assign(label=0, prediction=0) for frame in (first, second)]
    with pytest.raises(ValueError, match=r"expected the same questions, or id='question'$"):
        sigstats.compare(numbered(frames[0]), numbered(frames[1], seed=4))


@pytest.mark.parametrize("first", [0, 1001])
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_numbers_of_questions_show_another_order_too(files, refused, first, kind):
    frames = [marks(seed).assign(question_id=np.arange(first, first + N)).drop(columns="question") for seed in (1, 2)]
    paths = files(numbered(frames[0]), numbered(frames[1], seed=3), kind=kind)
    assert "expected the same questions, or --id question_id" in refused("compare", *paths, "--score", "f1")


def test_labels_of_other_items_are_refused(files, printed, refused):
    labels = pd.DataFrame({"question": ITEMS, "label": [0, 1] * (N // 2)})
    paths = files(numbered(labels), numbered(labels.rename(columns={"label": "prediction"}), seed=5))
    command = "check", paths[1], "--labels", paths[0], "--at-least", "0.5"
    assert "expected the same in both, or --id question" in refused(*command)
    assert "100.00%" in printed(*command, "--id", "question")


def test_texts_in_another_order_do_not_doubt_ids_of_items(files, printed):
    """Each file has requests and times of its model, which belong to its rows."""
    requests = [f"req-{k:04d}" for k in range(N)]
    times = [f"00:{k // 60:02d}:{k % 60:02d}" for k in range(40, 40 + N)]
    order = np.random.default_rng(8).permutation(N)
    swapped = [*requests[:5], requests[6], requests[5], *requests[7:]]
    ids = [f"item-{k}" for k in range(N)]
    first = pd.DataFrame({"id": ids, "prediction": 0, "label": 0, "request": requests, "finish": times})
    other = first.assign(request=swapped, finish=np.array(times)[order])
    paths = files(first, other, first.assign(finish=other["finish"]).drop(columns="prediction"))
    assert "request" not in printed("compare", *paths[:2])
    assert "100.00%" in printed("check", paths[0], "--labels", paths[2], "--at-least", "0.5")


@pytest.mark.parametrize("by_position", [False, True])
def test_a_long_text_of_many_rows_is_not_repeated_to_compare_it(by_position):
    """All rows together have more text than one array of Arrow can hold."""
    contexts = pd.Categorical.from_codes(np.arange(25_000) % 10, [f"{k} {'x' * 100_000}" for k in range(10)])
    ids = {} if by_position else {"id": [f"item-{k}" for k in range(25_000)]}
    labels = np.arange(25_000) % 3 % 2
    first = pd.DataFrame({**ids, "label": labels, "prediction": labels, "context": contexts})
    result = sigstats.compare(first, first.assign(context=contexts[::-1], prediction=0), by_position=by_position)
    assert result.rows[0].n == 25_000


PERMUTED = np.random.default_rng(6).permutation(N)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([f"It is {k}" for k in range(N)], [f"It is {k + 9 * (k % 2)}" for k in range(N)]),  # answers of models
        (range(N), PERMUTED),  # ranks of the rows
        (1 / (60 + np.arange(N)), 1 / (60 + PERMUTED)),  # reciprocal ranks
        (np.random.default_rng(7).random(N), np.random.default_rng(8).random(N)),  # probabilities of two models
        (["yes", "no", "yes", "no", *ITEMS[4:]], ["no", "yes", "no", "yes", *ITEMS[4:]]),
        (["yes", *["no"] * (N - 2), "perhaps"], ["no"] * N),
    ],
)
def test_other_columns_may_differ(files, printed, one, other):
    frames = [numbered(marks(seed, extra=list(column))) for seed, column in ((1, one), (2, other))]
    assert "other questions" not in printed("compare", *files(*frames), "--score", "f1", code=(0, 1))


PATIENTS = pd.DataFrame(
    {
        "age": np.random.default_rng(9).integers(20, 80, N),
        "sex": [*"FMM"] * 13 + ["F"],
        "label": [*"ab"] * (N // 2),
    }
)


def predicted(frame, **columns):
    """The rows with predictions, and with labels in the order of the other file."""
    return frame.reset_index(drop=True).assign(label=PATIENTS["label"], prediction=[*"aab"] * 13 + ["b"], **columns)


@pytest.mark.parametrize("ids", [True, False])
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_columns_that_describe_the_rows_show_another_order(files, refused, printed, ids, kind):
    shuffled = PATIENTS.sample(frac=1, random_state=3)
    frames = [numbered(frame) if ids else frame for frame in (predicted(PATIENTS), predicted(shuffled))]
    options = () if ids else ("--by-position",)
    message = refused("compare", *files(*frames, kind=kind), *options)
    first, other = (", ".join(map(str, frame.iloc[0][["age", "sex"]])) for frame in frames)
    assert f"'0': age, sex {other!r}" in message
    assert f"{first!r}" in message
    assert "--id" not in message
    printed("compare", *files(*frames, kind=kind), *options, "--allow-different-tasks", code=(0, 1))


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("latency", np.random.default_rng(4).random((2, N)).round(2)),
        ("run", np.repeat([[1], [2]], N, axis=1)),
        ("flag", [[*"yn"] * 19 + [*"nn"], [*"ny"] * 19 + [*"nn"]]),  # as often by chance
        ("fold", [[1, 1, 2, 3] * 10, [3, 1, 2, 1] * 10]),
        ("decile", [[*range(10)] * 4, [*range(9, -1, -1)] * 4]),
        ("rank", [range(N), range(N)[::-1]]),
    ],
)
def test_columns_that_each_model_has_do_not_doubt_the_order(files, printed, name, values):
    frames = [numbered(predicted(PATIENTS[["label"]], **{name: of})) for of in values]
    assert f"{name} '" not in printed("compare", *files(*frames), code=(0, 1))


@pytest.mark.parametrize("values", [range(N), ["de", "en", "es", "fr"] * (N // 4)])
@pytest.mark.parametrize("label", [None, 1, "varying"])
def test_the_same_values_in_another_order_are_noted_where_no_labels_confirm_the_rows(files, printed, values, label):
    told = f"column 'part' has the same values in both files, but differs in {N} of {N} rows"
    rows = marks(1, part=values).drop(columns="question")
    if label is not None:
        rows = rows.assign(label=np.arange(N) % 3 if label == "varying" else label)
    other = rows.assign(part=rows["part"].to_numpy()[::-1])
    said = printed("compare", *files(rows, other), "--score", "f1", "--by-position")
    assert (told in said) == (label != "varying")
    assert told not in printed("compare", *files(rows, rows), "--score", "f1", "--by-position")
