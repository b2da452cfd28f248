"""Ids that number the rows of each file, although another column names the items: a join by them is refused."""

import json

import numpy as np
import pandas as pd
import pytest

import sigstats

N = 40
ITEMS = [f"What is {k} + {k}?" for k in range(N)]
WRITE = {
    "csv": lambda frame, path: frame.to_csv(path, index=False),
    "parquet": lambda frame, path: frame.to_parquet(path),
    "jsonl": lambda frame, path: frame.to_json(path, orient="records", lines=True),
}


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
        paths = [tmp_path / f"{name}.{kind}" for name in "abc"[: len(frames)]]
        for frame, path in zip(frames, paths, strict=True):
            WRITE[kind](frame, path)
        return paths

    return write


@pytest.mark.parametrize("kind", WRITE)
@pytest.mark.parametrize("command", ["compare", "rank"])
def test_a_join_by_numbers_of_rows_in_another_order_is_refused(files, printed, refused, kind, command):
    first, second = marks(1), marks(2)
    paths = files(numbered(first), numbered(second, seed=3), kind=kind)
    options = ("--score", "f1", "--higher-is-better", "f1")
    message = refused(command, *paths, *options)
    assert "id '0': question" in message
    assert "expected the same questions, or --id question (--allow-different-tasks" in message
    by_item = json.loads(printed(command, *paths, *options, "--id", "question", "--json", "-", code=(0, 1)))
    paths = files(numbered(first), numbered(second), kind=kind)
    in_order = json.loads(printed(command, *paths, *options, "--json", "-", code=(0, 1)))
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


def test_labels_of_other_items_are_refused(files, printed, refused):
    labels = pd.DataFrame({"question": ITEMS, "label": [0, 1] * (N // 2)})
    paths = files(numbered(labels), numbered(labels.rename(columns={"label": "prediction"}), seed=5))
    command = "check", paths[1], "--labels", paths[0], "--at-least", "0.5"
    assert "expected the same in both, or --id question" in refused(*command)
    assert "100.00%" in printed(*command, "--id", "question")


PERMUTED = np.random.default_rng(6).permutation(N)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([f"It is {k}" for k in range(N)], [f"It is {k + 9 * (k % 2)}" for k in range(N)]),  # answers of models
        (range(N), PERMUTED),  # ranks of the rows
        (["yes", "no", "yes", "no", *ITEMS[4:]], ["no", "yes", "no", "yes", *ITEMS[4:]]),
        (["yes", *["no"] * (N - 2), "perhaps"], ["no"] * N),
    ],
)
def test_other_columns_may_differ(files, printed, one, other):
    frames = [numbered(marks(seed, extra=list(column))) for seed, column in ((1, one), (2, other))]
    assert "other questions" not in printed("compare", *files(*frames), "--score", "f1", code=(0, 1))


def test_ids_in_another_order_state_the_items(files, printed):
    """Outputs may be numbered by file; ids that are not numbers of rows are right."""
    names = [f"answer-{k}.json" for k in range(N)]
    first = numbered(marks(1)).assign(output=names)
    second = numbered(marks(2)).sample(frac=1, random_state=7).assign(output=names)
    printed("compare", *files(first, second), "--score", "f1", code=(0, 1))


@pytest.mark.parametrize("kind", WRITE)
@pytest.mark.parametrize("command", ["compare", "rank"])
def test_rows_that_two_columns_name_together_are_not_joined_by_position_in_another_order(
    files, printed, refused, kind, command
):
    """Free answers of the models differ, and so name no rows."""
    pair = {"site": [f"s{k % 2}" for k in range(N)], "visit": [k // 2 for k in range(N)]}
    first, second = (
        marks(seed, **pair, answer=[f"{k} of {seed}" for k in range(N)]).drop(columns="question") for seed in (1, 2)
    )
    options = ("--score", "f1", "--by-position")
    paths = files(first, second.sample(frac=1, random_state=3), kind=kind)
    told = f"{paths[1]}: has the values of columns 'site' and 'visit' of {paths[0]} in another order; sort one file"
    assert told in refused(command, *paths, *options)
    for other in (second, second.assign(visit=[f"{visit}.0" for visit in second["visit"]])):
        printed(command, *files(first, other, kind=kind), *options, code=(0, 1))
