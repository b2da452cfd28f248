"""Copies of rows: how many there are, and what p is without them."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import sigstats

from ...tables import save

N, COPIES = 60, 20


@pytest.fixture(scope="module")
def frames():
    """Baseline and candidate of 60 different rows, with features."""
    rng = np.random.default_rng(1)
    features = {f"x{j}": rng.integers(0, 40, N) for j in range(3)}
    y = rng.integers(0, 2, N)
    said = [np.where(rng.random(N) < right, y, 1 - y) for right in (0.85, 0.72)]
    return [pd.DataFrame({**features, "label": y, "prediction": each}) for each in said]


def copied(frame):
    """Each row twenty times, under ids of its own."""
    return pd.concat([frame] * COPIES, ignore_index=True).assign(id=range(N * COPIES))


def p_without(notes):
    """The p-value that a note gives of rows without copies."""
    (note,) = [each for each in notes if "may be copies" in each]
    assert note.startswith(f"{N * (COPIES - 1):,} of {N * COPIES:,} rows equal others in all columns")
    return float(re.search(r": without them the interval of accuracy on all rows is .* and p is ([\d.]+);", note)[1])


def test_copies_in_frames_and_arrays_are_told_with_the_p_of_single_rows(frames):
    y, a, b = frames[0]["label"], frames[0]["prediction"], frames[1]["prediction"]
    single = sigstats.compare(y, a, b)
    assert single.notes == ()
    expected = pytest.approx(single.rows[0].pvalue, rel=0.01)
    found = sigstats.compare(*map(copied, frames))
    assert p_without(found.notes) == expected
    assert found.rows[0].pvalue < single.rows[0].pvalue
    assert sigstats.compare(*(frame.assign(id=range(N)) for frame in frames)).notes == ()
    scores = np.random.default_rng(2).random((2, N))
    tiled = [np.tile(each, COPIES) for each in (y, a, b, *scores)]
    assert p_without(sigstats.compare(*tiled[:3], scores=tiled[3:]).notes) == expected


@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl"])
def test_copies_in_files_are_told(frames, kind, tmp_path, printed):
    paths = [save(copied(frame), tmp_path / f"{name}.{kind}") for frame, name in zip(frames, "ab", strict=True)]
    assert f"{N * (COPIES - 1):,} of {N * COPIES:,} rows equal others in all columns" in printed(
        "compare", *paths, code=(0, 1)
    )


def test_a_verdict_that_rests_on_copies_is_qualified():
    rng, texts = np.random.default_rng(0), [f"sentence {k}" for k in range(150)]
    y = rng.integers(0, 2, 150)
    said = [np.where(rng.random(150) < wrong, 1 - y, y) for wrong in (0.12, 0.09)]
    once = [pd.DataFrame({"id": range(150), "text": texts, "label": y, "prediction": side}) for side in said]
    often = [pd.concat([side] * 10, ignore_index=True).assign(id=range(1500)) for side in once]
    bar = {"at_least": float(np.mean(said[1] == y)) - 0.03}
    for test, ends in (
        (lambda frames: sigstats.compare(*frames), "{:+.2f} to {:+.2f}"),
        (lambda frames: sigstats.check(frames[1], **bar), "{:.2f}% to {:.2f}%"),
    ):
        found, single = test(often), test(once)
        assert (found.verdict, single.verdict) == ("pass", "inconclusive")
        interval = ends.format(100 * single.rows[0].low, 100 * single.rows[0].high).replace("-", "−")
        (note,) = [note for note in found.notes if note.name == "duplicates"]
        assert f": without them the interval of accuracy on all rows is {interval}, the verdict is INCONCLUSIVE" in note
        assert note.doubt == f"INCONCLUSIVE without the copies ({interval})"
        assert ", but INCONCLUSIVE in groups by 'text' (" in found.answer.headline  # the first of two notes
        less = replace(found, notes=(note,)).answer
        assert less.headline.endswith(f", but {note.doubt}")
        assert less.advice.startswith("Repeat without the copies. If all rows are independent nevertheless: ")


def test_equal_predictions_and_categories_are_no_copies(frames):
    rng = np.random.default_rng(3)
    y, a, b = (np.tile(each, COPIES) for each in (frames[0]["label"], *(frame["prediction"] for frame in frames)))
    marks = rng.integers(1, 6, (2, len(y))) / 5
    assert sigstats.compare(y, a, b).notes == ()
    assert sigstats.compare(y, a, b, scores=list(marks)).notes == ()
    leaves = [rng.random(12)[rng.integers(0, 12, len(y))] for _ in range(2)]  # of two trees
    assert sigstats.compare(y, a, b, scores=leaves).notes == ()
    parts = {"town": rng.integers(0, 2, len(y)), "age": rng.integers(0, 3, len(y)), "label": y}
    told = [pd.DataFrame({**parts, "cost": rng.integers(0, len(y), len(y)), "prediction": each}) for each in (a, b)]
    told = [frame.assign(id=range(len(y))) for frame in told]  # some costs of a model are equal by chance
    assert all(frame.duplicated([*parts, "cost", "prediction"]).any() for frame in told)
    assert "duplicates" not in [note.name for note in sigstats.compare(*told).notes]
    town = rng.integers(0, 50, len(y))
    told = [pd.DataFrame({"id": range(len(y)), "town": town, "label": y, "prediction": each}) for each in (a, b)]
    assert sigstats.compare(*told).notes == ()


@pytest.mark.long
def test_rows_of_several_categories_that_meet_by_chance_are_no_copies_and_repeated_ones_are():
    names = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        table = pd.DataFrame({f"c{k}": rng.integers(0, of, 60) for k, of in enumerate((5, 9, 14))})
        table = table.assign(id=range(60), label=rng.integers(0, 2, 60), prediction=1)
        names += [note.name for note in sigstats.compare(table, table.assign(prediction=table["label"])).notes]
        twice = pd.concat([table, table]).assign(id=range(120))
        copies = sigstats.compare(twice, twice.assign(prediction=twice["label"])).notes
        assert "duplicates" in [note.name for note in copies]
    assert "duplicates" not in names


@pytest.mark.long
def test_answers_of_other_models_that_agree_are_no_copies():
    """Columns of which one is independent of the others, although these depend on each other."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        topic = rng.integers(0, 4, 1500)
        answers = {f"m{k}": np.where(rng.random(1500) < 0.8, topic, rng.integers(0, 4, 1500)) for k in range(8)}
        table = pd.DataFrame({"id": range(1500), "label": topic, "language": rng.integers(0, 3, 1500), **answers})
        table["age"] = rng.integers(18, 80, 1500)
        one, other = (table.rename(columns={name: "prediction"}) for name in ("m0", "m1"))
        assert "duplicates" not in [note.name for note in sigstats.compare(one, other).notes]
        rows = np.append(np.arange(1500), rng.integers(0, 1500, 300))  # some rows twice
        one, other = (frame.iloc[rows].assign(id=range(1800)) for frame in (one, other))
        assert "duplicates" in [note.name for note in sigstats.compare(one, other).notes]


def test_groups_say_what_is_independent(frames):
    of = {"groups": "row"}
    found = sigstats.compare(*(copied(frame).assign(row=[*range(N)] * COPIES) for frame in frames), **of)
    assert not any("may be copies" in note for note in found.notes)


@pytest.mark.long
def test_a_split_with_copies_and_a_copied_feature_are_named():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 3)), rng.integers(0, 2, 30)
    rows = np.repeat(np.arange(30), 4)
    options = {"cv": 5, "n_resamples": 99, "rng": 1}
    twice = sigstats.permutation_test("1-nn", X[rows], y[rows], **options)
    assert twice.pvalue == 0.01  # on noise
    assert re.match(r"1\d\d of 120 rows equal others that another fold tests: groups keep", twice.reason)
    held = sigstats.permutation_test("1-nn", X[rows], y[rows], groups=rows, **options)
    assert held.pvalue > 0.05
    assert held.reason == ""
    assert sigstats.permutation_test("1-nn", X, y, **options).reason == ""
    coarse = sigstats.permutation_test("1-nn", X[rows] > 0, y[rows], **options)  # of eight kinds of rows
    assert coarse.reason == ""
    wide = sigstats.permutation_test("1-nn", np.column_stack([X, X[:, 1]]), y, null="features", **options)
    assert wide.reason == "feature 3 (from 0) is a copy of feature 1: they are not independent"


@pytest.mark.parametrize("decimals", [2, 3, 4])
def test_scores_of_few_decimals_that_tie_by_chance_are_no_copies(decimals):
    rng = np.random.default_rng(4)
    y = rng.integers(0, 2, 500)
    p = np.round(np.where(y == 1, rng.beta(6, 2, 500), rng.beta(2, 6, 500)), decimals)
    q = np.where(rng.random(500) < 0.1, np.round(rng.random(500), decimals), p)
    for scores in ([p, q], [p.astype(np.float32), q.astype(np.float32)]):
        assert sigstats.compare(y, y, np.roll(y, 1), scores=scores, measures=["auc"]).notes == ()
    rows = np.tile(np.arange(50), 10)
    notes = sigstats.compare(y[rows], y[rows], y[rows], scores=[p[rows], q[rows]], measures=["auc"]).notes
    assert [note.name for note in notes] == ["duplicates"]
