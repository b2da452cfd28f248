"""`sigstats compare --changed`: the rows that are broken or fixed are those that pandas finds."""

import io

import numpy as np
import pandas as pd
import pytest
from scipy.stats import fisher_exact

from sigstats.flows.commands import main


@pytest.fixture
def files(tmp_path):
    rng = np.random.default_rng(4)
    frames = []
    for name in "ab":
        frame = pd.DataFrame({"id": [f"r{i}" for i in range(300)], "label": np.arange(300) % 3})
        frame["prediction"] = np.where(rng.random(300) < 0.8, frame.label, (frame.label + rng.integers(1, 3, 300)) % 3)
        frame["part"] = np.where(np.arange(300) % 2, "x, y", "=1+1")
        frame["seconds"] = rng.random(300).round(1)
        frames.append(frame.sample(frac=1, random_state=ord(name)))
        frames[-1].to_csv(tmp_path / f"{name}.csv", index=False)
    return tmp_path, frames[0].merge(frames[1], on=["id", "label", "part"], suffixes=("_a", "_b"))


def changed(folder, *arguments):
    paths = (str(folder / "a.csv"), str(folder / "b.csv"))
    target = folder / "changed.csv"
    code = main(["compare", *paths, *arguments, "--changed", str(target)])
    return code, pd.read_csv(target, dtype=str) if target.exists() else None


def test_answers_that_one_model_alone_gets_right(files, capsys):
    folder, both = files
    _, found = changed(folder, "--slice", "part")
    right_a, right_b = both.prediction_a == both.label, both.prediction_b == both.label
    otherwise = ~right_a & ~right_b & (both.prediction_a != both.prediction_b)
    kinds = {"broken": right_a & ~right_b, "fixed": ~right_a & right_b, "differently wrong": otherwise}
    for change, rows in kinds.items():
        ours = found[found.change == change].sort_values("id")
        theirs = both[rows].sort_values("id")
        assert ours.id.tolist() == theirs.id.tolist()
        assert ours.part.tolist() == theirs.part.tolist()
        assert ours.candidate.astype(int).tolist() == theirs.prediction_b.tolist()
    said = ", ".join(f"{rows.sum()} rows {change}" for change, rows in kinds.items())
    assert capsys.readouterr().out.splitlines()[-1].startswith(said)
    assert found.change.unique().tolist() == [*kinds]


def test_marks_change_for_the_worse_by_their_direction(files):
    folder, both = files
    for name in "ab":
        frame = pd.read_csv(folder / f"{name}.csv")
        frame[["id", "seconds"]].to_csv(folder / f"{name}.csv", index=False)
    _, found = changed(folder, "--score", "seconds", "--lower-is-better", "seconds")
    worse = both[both.seconds_b > both.seconds_a]
    assert sorted(found[found.change == "worse"].id) == sorted(worse.id)
    assert len(found) == (both.seconds_a != both.seconds_b).sum()


def test_standard_output_has_the_table_alone(files, capsys):
    folder, _ = files
    main(["compare", str(folder / "a.csv"), str(folder / "b.csv"), "--changed", "-"])
    assert set(pd.read_csv(io.StringIO(capsys.readouterr().out)).change) == {"broken", "fixed", "differently wrong"}


def test_several_candidates_have_no_one_table(files, capsys):
    folder, _ = files
    assert changed(folder, str(folder / "b.csv"))[0] == 2
    assert "is not valid with several candidates; expected the rows of two models" in capsys.readouterr().err


def test_the_comment_and_the_page_list_the_first_of_them(files, tmp_path):
    folder, _ = files
    comment, page = tmp_path / "c.md", tmp_path / "p.html"
    _, found = changed(folder, "--report", str(comment), "--report", str(page))
    table = comment.read_text().rpartition("| change |")[2]
    assert [line.split("|")[1].strip() for line in table.splitlines()[2:]] == found.id[:20].tolist()
    assert all(f'<td class="words">{each}</td>' in page.read_text() for each in found.id[:20])


def test_items_with_several_answers_are_flaky_or_changed_by_fishers_test(tmp_path, capsys):
    rng = np.random.default_rng(6)
    frames = []
    for model in range(2):
        share = np.where(np.arange(40) < 2, 1.0 - model, np.where(np.arange(40) < 12, 0.5, 1.0))
        right = rng.random((12, 40)) < share
        rows = [
            {"id": f"q{item}", "try": n, "label": 1, "prediction": int(right[n, item])}
            for n in range(12)
            for item in range(40)
        ]
        frames.append(pd.DataFrame(rows))
        frames[-1].to_csv(tmp_path / f"{'ab'[model]}.csv", index=False)
    _, found = changed(tmp_path, "--epoch", "try")
    counts = [frame.groupby("id").prediction.sum() for frame in frames]
    p = {
        item: fisher_exact([[a, 12 - a], [b, 12 - b]]).pvalue
        for item, a, b in zip(counts[0].index, *counts, strict=True)
    }
    told = dict(zip(found.id, found.p.astype(float), strict=True))
    assert told == pytest.approx({item: p[item] for item in told}, rel=1e-3)
    assert found[found.change == "broken"].id.tolist() == ["q0", "q1"]
    flaky = {item for item in p if any(0 < each[item] < 12 for each in counts)}
    assert set(found[found.change == "flaky"].id) == flaky
    assert "2 items broken" in capsys.readouterr().out
