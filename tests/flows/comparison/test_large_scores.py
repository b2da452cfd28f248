"""Whole scores that float64 rounds are refused: different ones would be equal, and the verdict that nothing differs."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sigstats
from sigstats._common.validation import as_reals
from sigstats.flows.commands import main

N = 40
LABELS = ["u", "v"] * (N // 2)


def written(folder, name, kind, scores):
    path = folder / f"{name}.{kind}"
    rows = [
        {"id": i, "label": label, "prediction": label, "score": score}
        for i, (label, score) in enumerate(zip(LABELS, scores, strict=True))
    ]
    if kind == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    elif kind == "json":
        path.write_text(json.dumps(rows))
    elif kind == "csv":
        path.write_text("id,label,prediction,score\n" + "".join(",".join(map(str, r.values())) + "\n" for r in rows))
    else:
        pd.DataFrame(rows).to_parquet(path)
    return str(path)


@pytest.mark.parametrize("kind", ["csv", "jsonl", "json", "parquet"])
@pytest.mark.parametrize("power", [60, 70])
def test_whole_scores_of_a_file_are_exact_or_refused(tmp_path, kind, power, capsys, refused):
    if (kind, power) == ("parquet", 70):
        pytest.skip("Parquet has no whole numbers of so many bits")
    step = 2 ** (power - 52)  # from one float64 to the next
    exact = [2**power + step * i for i in range(N)]
    baseline = written(tmp_path, "baseline", kind, exact)
    other = written(tmp_path, "other", kind, exact[::-1])
    options = ["--score", "score", "--measure", "mean-score"]
    assert main(["compare", baseline, other, *options]) == 0
    capsys.readouterr()
    rounded = written(tmp_path, "rounded", kind, [*exact[:7], exact[7] + 1, *exact[8:]])
    where = "line 9" if kind == "csv" else "row 7 (from 0)"
    for command in (["compare", baseline, rounded, *options], ["rank", baseline, rounded, "--score", "score"]):
        complaint = refused(*command)
        assert f"rounded.{kind}, {where}: column 'score': {exact[7] + 1} is not valid; expected whole" in complaint


def test_a_fraction_among_whole_scores_hides_none_of_them(tmp_path, refused):
    mixed = [0.5, *range(N - 2), 2**60 + 1]
    for kind in ("jsonl", "json"):
        path = written(tmp_path, "mixed", kind, mixed)
        assert str(2**60 + 1) in refused(
            "compare", path, written(tmp_path, "other", kind, mixed[::-1]), "--score", "score"
        )


@pytest.mark.parametrize("large", [2**60 + 1, 2**64 - 1, -(2**60) - 1])
def test_whole_scores_of_an_array_are_exact_or_refused(large):
    scores = np.array([*range(N - 1), large], dtype=np.uint64 if large > 2**63 else np.int64)
    y = np.array(LABELS)
    for given_as in (scores, pd.Series(scores, dtype=object)):
        with pytest.raises(ValueError, match=rf"{large} is not valid; expected whole numbers that float64 holds"):
            sigstats.compare(y, y, y, scores=(given_as, np.arange(N)), measures=["mean-score"])
    with pytest.raises(ValueError, match=rf"{large} is not valid"):
        sigstats.rank_models(pd.DataFrame({"a": scores, "b": scores[::-1]}))


@given(st.integers(-(2**63), 2**63 - 1))
def test_what_is_taken_is_what_was_given(value):
    try:
        (taken,) = as_reals(np.array([value]), "x")
    except ValueError:
        assert int(float(value)) != value
    else:
        assert int(taken) == value


@pytest.mark.parametrize("command", ["compare", "check", "rank"])
@pytest.mark.filterwarnings("error")
def test_scores_whose_squares_are_no_floats_are_one_line(tmp_path, refused, command):
    """The largest float stands for a failure in some logs; sums and spreads of it are infinite or NaN."""
    files = [
        written(tmp_path, name, "csv", [1.5e308 if i % (2 + k) else -1.5e308 for i in range(N)])
        for k, name in enumerate("abc")
    ]
    more = ["--at-least", "1"] if command == "check" else []
    options = ["--score", "score", "--higher-is-better", "score", *more]
    said = [] if command == "rank" else ["--measure", "mean-score"]
    complaint = refused(command, *files[: 1 if command == "check" else 2], *options, *said)
    assert "scores: -1.5e+308 is not valid; expected numbers between -1e+150 and 1e+150" in complaint
    assert complaint.count("\n") == 1
