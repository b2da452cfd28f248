"""Populations of Parquet files are reduced to the counts that their rows have; what is wrong is named."""

import os
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fsspec.implementations.local import LocalFileSystem
from hypothesis import given, settings
from hypothesis import strategies as st

from sigstats.files.inputs.limit import Budget
from sigstats.joint.events import JointEvents
from sigstats.joint.outcomes import JointOutcomes
from sigstats.mcnemar.counts import discordant_counts
from sigstats.tasks.calibration.populations.counts import LabelCounts, count_outcomes
from sigstats.tasks.calibration.populations.prediction_files import LabelFiles, scan_footers

from ...examples import examples

NAMES = {"label": "label", "a": "pred_a", "b": "pred_b"}
COLUMNS = tuple(NAMES.values())


def write(path, y, a, b, *, kind=None, **options):
    columns = [pa.array(values) if kind is None else pa.array(values).cast(kind) for values in (y, a, b)]
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns, names=COLUMNS), path, **options)
    return path


def rows(n, classes, seed=1):
    rng = np.random.default_rng(seed)
    return [np.array(classes)[rng.integers(0, len(classes), n)] for _ in range(3)]


def counted(*columns, classes=None):
    return count_outcomes("rows", COLUMNS, columns, Budget("rows"), classes)


def read(path, **options):
    return scan_footers("rows", str(path), Path(), **NAMES, **options).count_all()


@pytest.mark.parametrize(
    ("classes", "kind"),
    [
        ([3, 7, -2], pa.int8()),
        ([0, 2**40], pa.int64()),
        ([0, 2**64 - 1, 2**64 - 2], pa.uint64()),
        (["cat", "dog", "a b"], pa.string()),
        (["cat", "dog"], pa.dictionary(pa.int8(), pa.string())),
        ([False, True], pa.bool_()),
    ],
)
def test_counts_are_those_of_the_rows(tmp_path, classes, kind):
    expected = Counter()
    for part in range(3):
        y, a, b = rows(1000, np.array(classes, dtype=np.uint64) if classes[-1:] == [2**64 - 2] else classes, seed=part)
        write(tmp_path / "data" / f"{part}.parquet", y, a, b, kind=kind, row_group_size=300)
        expected.update(zip(y.tolist(), a.tolist(), b.tolist(), strict=True))
    assert read(tmp_path / "data").counts == expected
    assert read(tmp_path / "data" / "*.parquet", classes=classes).counts == expected
    assert read(f"file://{tmp_path}/data").counts == expected


@pytest.mark.parametrize(
    "name", ["_temporary/0/part.parquet", "_hidden.parquet", ".part.parquet", "day=1/_old/0.parquet"]
)
def test_files_that_spark_and_hive_hide_are_no_part_of_a_population(tmp_path, name):
    y, a, b = rows(100, [0, 1])
    for seen in ("0.parquet", "day=1/0.parquet", "_day=2/0.parquet"):
        write(tmp_path / "data" / seen, y, a, b)
    counted = read(tmp_path / "data")
    write(tmp_path / "data" / name, y, a, b)
    assert read(tmp_path / "data") == counted
    assert sum(len(pq.read_table(path)) for path in (tmp_path / "data").rglob("*.parquet")) == 400


def test_text_of_other_writers_is_text(tmp_path):
    """Pandas 3 and polars store text with long offsets or as views; read with dictionaries it has short ones."""
    y, a, b = rows(500, ["cat", "dog"])
    expected = Counter(zip(y.tolist(), a.tolist(), b.tolist(), strict=True))
    for kind in (pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.large_string())):
        assert read(write(tmp_path / "one.parquet", y, a, b, kind=kind)).counts == expected
    write(tmp_path / "two" / "0.parquet", y, a, b)
    write(tmp_path / "two" / "1.parquet", y, a, b, kind=pa.large_string())
    assert read(tmp_path / "two").counts == expected + expected


def test_a_remote_file_is_read_too(tmp_path):
    import fsspec

    y, a, b = rows(50, ["x", "y"])
    content = write(tmp_path / "one.parquet", y, a, b).read_bytes()
    fsspec.filesystem("memory").pipe_file("/populations/one.parquet", content)
    assert read("memory://populations").counts == Counter(zip(y.tolist(), a.tolist(), b.tolist(), strict=True))


def test_files_are_found_from_every_working_folder(tmp_path, monkeypatch):
    for part in range(2):
        write(tmp_path / "data" / f"{part}.parquet", *rows(50, ["x", "y"], seed=part))
    (tmp_path / "elsewhere").mkdir()
    for path in ("data", "data/*.parquet", f"file://{tmp_path}/data"):
        monkeypatch.chdir(tmp_path)
        kept = scan_footers("rows", path, Path(), **NAMES).to_table()
        monkeypatch.chdir(tmp_path / "elsewhere")
        files = LabelFiles.from_table(kept)
        with monkeypatch.context() as patch:  # a worker counts the files it is told, and looks for no others
            for name in ("find", "glob", "isdir", "ls"):
                patch.setattr(LocalFileSystem, name, None)
            counts = [files.count(index) for index in range(2)]
        assert LabelCounts.total(counts).counts == read(tmp_path / "data").counts


@pytest.mark.parametrize("classes", [["x", "y"], [1, 2]])
def test_a_file_is_counted_by_the_footer_of_its_mark(tmp_path, classes):
    """Where the footer is gone after the mark was taken, the rows are still counted, so that it is not read twice."""
    for part in range(2):
        write(tmp_path / "data" / f"{part}.parquet", *rows(50, classes, seed=part))
    files, expected = scan_footers("rows", "data", tmp_path, **NAMES), read(tmp_path / "data").counts
    (_, first), (_, second) = files.mark(0), files.mark(1)
    counts = [files.count(0, first)]
    path = tmp_path / "data" / "1.parquet"
    path.write_bytes(path.read_bytes()[:-8] + bytes(8))
    counts.append(files.count(1, second))
    assert LabelCounts.total(counts).counts == expected
    with pytest.raises(ValueError, match="is damaged, or is not a Parquet file"):
        files.mark(1)


def test_a_worker_that_lacks_a_file_system_says_so(tmp_path):
    write(tmp_path / "one.parquet", *rows(5, ["x", "y"]))
    files = replace(scan_footers("rows", "one.parquet", tmp_path, **NAMES), path="nosuchscheme://x")
    with pytest.raises(ValueError, match=r"^nosuchscheme://x: cannot be read"):
        files.count(0)


def alike(path, turn):
    """Rows whose file has the same footer whichever of its predictions are right."""
    truth = np.arange(1000) % 2
    sides = [truth, (truth + (np.arange(1000) < 400)) % 2, (truth + (np.arange(1000) < 300)) % 2]
    y, a, b = sides if turn == "a is better" else (sides[0], sides[2], sides[1])
    return write(path, y, a, b, kind=pa.int8(), compression="none", use_dictionary=False)


def test_a_file_that_is_written_anew_is_told_from_the_old_one(tmp_path):
    def seen(path):
        return scan_footers("rows", str(path), tmp_path, **NAMES)

    before = seen(alike(tmp_path / "one.parquet", "a is better"))
    moved = seen((tmp_path / "one.parquet").rename(tmp_path / "two.parquet"))
    copied = seen(shutil.copy2(tmp_path / "two.parquet", tmp_path / "three.parquet"))
    os.utime(alike(tmp_path / "two.parquet", "b is better"), (1, 2))
    after = seen(tmp_path / "two.parquet")
    assert {each.digest() for each in (before, moved, copied, after)} == {before.digest()}
    assert before.written == moved.written == copied.written != after.written
    assert LabelFiles.from_table(after.to_table()).written == after.written


@pytest.mark.long
def test_an_object_that_is_written_anew_is_told_from_the_old_one(tmp_path, bucket):
    import fsspec

    system = fsspec.filesystem("s3")

    def seen(name, turn):
        content = alike(tmp_path / "one.parquet", turn).read_bytes()
        system.pipe_file(f"store/{name}.parquet", content)
        return scan_footers("rows", f"{bucket}/{name}.parquet", tmp_path, **NAMES)

    before, copied = seen("one", "a is better"), seen("two", "a is better")
    after, back = seen("one", "b is better"), seen("one", "a is better")
    assert before.digest() == after.digest()
    assert before.written == copied.written == back.written != after.written


labels = st.lists(st.tuples(*3 * [st.integers(0, 3)]), min_size=1, max_size=60).filter(
    lambda triples: any(1 in triple for triple in triples)
)


@settings(deadline=None, derandomize=True, max_examples=examples(60))
@given(labels, st.sampled_from([1, 10**7]))
def test_a_population_is_what_the_library_counts(triples, factor):
    columns = [pa.array([factor * value for value in side]) for side in zip(*triples, strict=True)]
    counts = LabelCounts(counted(*columns))
    assert counts.rows == len(triples)
    y, a, b = zip(*triples, strict=True)
    assert counts.population(factor).outcomes == JointOutcomes.from_predictions(y, a, b, positive=1).counts
    plain = counts.population()
    assert plain.discordant == discordant_counts(y, a, b)
    right = [np.mean(np.equal(side, y)) for side in (a, b)]
    assert plain.difference("accuracy") == pytest.approx(right[1] - right[0], abs=1e-12)


def damaged(tmp_path, what):
    """A data set of two files, the second of which has something wrong with it."""
    folder = tmp_path / "data"
    y, a, b = (side.tolist() for side in rows(900, ["x", "y"]))
    write(folder / "0.parquet", y, a, b)
    second = folder / "1.parquet"
    if what == "nulls":
        write(second, y, [*a[:500], None, *a[501:]], b, row_group_size=300)
    elif what == "unknown label":
        write(second, y, a, [*b[:-1], "yy"], row_group_size=300)
    elif what == "schemas differ":
        write(second, *(side.tolist() for side in rows(9, [1, 2])))
    elif what == "floats":
        write(folder / "0.parquet", [0.5], [0.5], [0.5])
    elif what == "lists":
        write(folder / "0.parquet", [[0.5]], [[0.5]], [[0.5]])
    elif what == "null in a list":
        write(second, [["x"], ["y"]], [["x"], ["y", None]], [["x"], []])
        write(folder / "0.parquet", [["x"]], [["x"]], [["y"]])
    elif what == "no text":
        write(folder / "0.parquet", [["x"]], [["x"]], [["y", ""]])
    elif what == "unknown in a list":
        write(folder / "0.parquet", [["x"]], [["x"]], [["y", "xx"]])
    elif what == "a list and a label":
        write(folder / "0.parquet", [["x"]], ["x"], ["y"])
    elif what == "mixed":
        write(folder / "0.parquet", ["1"], ["1"], [1])
    elif what == "no column":
        pq.write_table(pa.table({"label": y, "pred_aa": a, "pred_b": b}), folder / "0.parquet")
    elif what == "truncated":
        second.write_bytes((folder / "0.parquet").read_bytes()[:-20])
    elif what == "flipped":
        content = bytearray(write(second, y, a, b, compression="gzip", row_group_size=300).read_bytes())
        content[40:400] = bytes(360)
        second.write_bytes(content)
    elif what == "empty":
        write(folder / "0.parquet", [], [], [], kind=pa.string())
    return folder


@pytest.mark.parametrize(
    ("what", "complaint"),
    [
        ("nulls", r"1\.parquet, row group 1: column 'pred_a': a label is missing \(null\); give every row a label"),
        ("unknown label", r"1\.parquet, row group 2: column 'pred_b': 'yy' is not valid; expected one of x, y \(did"),
        ("schemas differ", r"1\.parquet: column 'label' has the type int64; expected string, as in .*0\.parquet"),
        (
            "floats",
            r"0\.parquet: column 'label' has the type double; expected whole numbers, strings, booleans, or lists",
        ),
        ("lists", r"0\.parquet: column 'label' has the type list<.*>; .* lists of whole numbers or of strings"),
        ("null in a list", r"1\.parquet, row group 0: column 'pred_a': a label in a list is missing \(null\)"),
        ("no text", r"0\.parquet, row group 0: column 'pred_b': the label '' is empty"),
        ("unknown in a list", r"0\.parquet, row group 0: column 'pred_b': 'xx' is not valid; expected one of x, y"),
        ("a list and a label", r"column 'pred_a' has the type string; expected lists of strings, as in column 'lab"),
        ("mixed", r"0\.parquet: column 'pred_b' has the type int64; expected strings, as in column 'label'"),
        ("no column", r"0\.parquet: column 'pred_a' was not found; did you mean 'pred_aa'\?"),
        ("truncated", r"1\.parquet: is damaged, or is not a Parquet file"),
        ("flipped", r"1\.parquet, row group 0: cannot be read"),
        ("empty", r"data/0\.parquet: has no rows"),
    ],
)
def test_what_is_wrong_is_named_with_its_file_and_row_group(tmp_path, what, complaint):
    folder = damaged(tmp_path, what)
    alone = what not in ("nulls", "unknown label", "schemas differ", "truncated", "flipped", "null in a list")
    with pytest.raises(ValueError, match=complaint) as caught:
        read(folder / "0.parquet" if alone else folder, classes=["x", "y"])
    assert "\n" not in str(caught.value)


def test_what_is_not_there_is_named(tmp_path):
    for path, complaint in (
        ("gone.parquet", "there is no such file"),
        (".", "contains no Parquet"),
        ("*.parquet", "no such"),
    ):
        with pytest.raises(ValueError, match=complaint):
            scan_footers("rows", path, tmp_path, **NAMES)
    with pytest.raises(ValueError, match=r"cannot be read"):
        scan_footers("rows", "nosuchscheme://x", tmp_path, **NAMES)
    counts = LabelCounts({("cat", "dog", "cat"): 3})
    with pytest.raises(ValueError, match=r"positive: no row has the label 'ca'; .*\(did you mean 'cat'\?\)"):
        counts.population("ca")


def sets(n, categories, seed):
    rng = np.random.default_rng(seed)
    chance = 0.5 / np.arange(1, len(categories) + 1)
    truth = rng.random((n, len(categories))) < chance
    return [truth ^ (rng.random(truth.shape) < noise) for noise in (0.0, 0.05, 0.08)]


@pytest.mark.parametrize("categories", [["oil", "wheat", "corn", "a b"], [7, 3, 11]])
def test_lists_of_labels_are_the_events_of_their_indicators(tmp_path, categories):
    parts = [sets(500, categories, seed) for seed in range(2)]
    rng = np.random.default_rng(1)
    for number, sides in enumerate(parts):
        lists = [
            [rng.permutation([c for c, has in zip(categories, row, strict=True) if has]).tolist() for row in side]
            for side in sides
        ]
        kind = pa.list_(pa.string() if isinstance(categories[0], str) else pa.int16())
        write(tmp_path / "data" / f"{number}.parquet", *lists, kind=kind, row_group_size=170)
    order = sorted(categories)
    columns = [categories.index(c) for c in order]
    both = [np.concatenate(each)[:, columns].astype(int) for each in zip(*parts, strict=True)]
    counts = read(tmp_path / "data", classes=categories)
    assert counts.listed
    assert counts.events("news").joint == JointEvents.from_indicators(*both, categories=order)
    for position, category in enumerate(order):
        expected = JointOutcomes.from_predictions(*(side[:, position] for side in both), positive=1)
        assert counts.population(category).outcomes == expected.counts
    right = [(side == both[0]).all(axis=1) for side in both[1:]]
    assert counts.population().discordant == (int((right[0] & ~right[1]).sum()), int((right[1] & ~right[0]).sum()))


@st.composite
def columns_of_labels(draw, n):
    """Whole numbers, truth values or strings, as they are or as codes of a dictionary that may say a label twice."""
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    kind = draw(st.sampled_from([*"bhilBHILq", "strings", "dictionary", "truth values"]))
    if kind == "truth values":
        return pa.array(rng.random(n) < 0.5)
    if kind in ("strings", "dictionary"):
        labels = draw(st.lists(st.sampled_from("uvwxyz"), min_size=1, max_size=6))
        coded = pa.DictionaryArray.from_arrays(pa.array(rng.integers(0, len(labels), n), pa.int32()), labels)
        return coded if kind == "dictionary" else coded.cast(pa.string())
    bounds = np.iinfo(kind)
    low = draw(st.sampled_from([0, 1, 100, bounds.min, bounds.max - 9]))
    return pa.array(low + rng.integers(0, draw(st.integers(1, 9)), n).astype(kind))


@settings(max_examples=examples(160), deadline=None)
@given(data=st.data())
def test_columns_of_any_labels_are_counted(data):
    n = data.draw(st.integers(0, 30))
    columns = [data.draw(columns_of_labels(n)) for _ in range(3)]
    assert counted(*columns) == Counter(zip(*(column.to_pylist() for column in columns), strict=True))


def test_a_label_outside_the_classes_is_named_with_its_part():
    plain = pa.array([0, 1, 2, 4] * 5)
    with pytest.raises(ValueError, match=r"^rows: column 'pred_a': 3 is not valid; expected one of 0, 1, 2, 4"):
        counted(plain, pa.array([0, 1, 2, 3] * 5), plain, classes={0, 1, 2, 4})


@pytest.mark.parametrize(("label", "asked"), [(1, "1"), ("1", 1)])
def test_a_positive_class_of_another_type_is_told_as_the_files_have_it(label, asked):
    with pytest.raises(ValueError, match=rf"name a label that occurs \(the files have {label!r}\)$"):
        LabelCounts({(label, label, label): 3}).population(asked)


@pytest.mark.parametrize("column", range(3))
def test_a_text_that_looks_missing_is_a_class_only_where_all_classes_are_listed(tmp_path, column):
    columns = [["yes", "no"] * 30 for _ in range(3)]
    columns[column] = ["None" if row < 7 else label for row, label in enumerate(columns[column])]
    path = write(tmp_path / "rows.parquet", *columns, row_group_size=20)
    with pytest.raises(ValueError, match=f"rows.parquet: column '{COLUMNS[column]}': 7 of 60 labels are 'None'; leave"):
        read(path)
    assert read(path, classes=["yes", "no", "None"]).labels == ["None", "no", "yes"]


@pytest.mark.parametrize(
    ("classes", "words"), [([0, 1], [-1, 1]), ([1, 2, 3], [0, 1, 2]), (["cat", "dog"], ["Cat", "dog"]), (["a"], ["b"])]
)
def test_predictions_in_other_words_than_the_labels_are_refused(tmp_path, classes, words):
    # The last population has one class in each file and two in all.
    other, own = (["c"], ["c"]) if len(classes) == 1 else (words, classes)
    for part, (labels, said) in enumerate(((classes, words), (own, other))):
        y = np.array(labels)[np.arange(60) % len(labels)]
        b = np.array(said)[np.arange(60) % len(labels)]  # the same class as y, as another program writes it
        write(tmp_path / "data" / f"{part}.parquet", y, y, b)
    if len(classes) == 1:
        assert read(tmp_path / "data").rows == 120
    else:
        with pytest.raises(
            ValueError, match=r"prediction: .* of column 'pred_b' of .*data.*expected classes of the labels"
        ):
            read(tmp_path / "data")


@pytest.mark.parametrize("classes", [("5", "05"), ("cat", "cat\u200b")])
def test_one_class_in_two_spellings_is_refused_though_all_columns_have_both(tmp_path, classes):
    y = np.array(classes)[np.arange(60) % 2]
    path = write(tmp_path / "rows.parquet", y, y[::-1], y)
    with pytest.raises(ValueError, match=r"label: .* (look alike|are taken as two); "):
        read(path)
