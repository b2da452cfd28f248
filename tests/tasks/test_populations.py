"""Populations of Parquet files are reduced to the counts that their rows have; what is wrong is named."""

from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sigstats.measures import accuracy, f1
from sigstats.outcomes import JointOutcomes
from sigstats.paired import discordant_counts
from tasks.label_counts import LabelCounts, Tally
from tasks.populations import read_counts
from tasks.trials import Population, exact_rate, null_holds, random_classifiers

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


def read(path, **options):
    return read_counts(str(path), **NAMES, **options)


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


def test_a_remote_file_is_read_too(tmp_path):
    import fsspec

    y, a, b = rows(50, ["x", "y"])
    content = write(tmp_path / "one.parquet", y, a, b).read_bytes()
    fsspec.filesystem("memory").pipe_file("/populations/one.parquet", content)
    assert read("memory://populations").counts == Counter(zip(y.tolist(), a.tolist(), b.tolist(), strict=True))


labels = st.lists(st.tuples(*3 * [st.integers(0, 3)]), min_size=1, max_size=60).filter(
    lambda triples: any(1 in triple for triple in triples)
)


@settings(deadline=None, derandomize=True, max_examples=60)
@given(labels, st.sampled_from([1, 10**7]))
def test_a_population_is_what_the_library_counts(triples, factor):
    columns = [pa.array([factor * value for value in side]) for side in zip(*triples, strict=True)]
    tally = Tally("rows", COLUMNS)
    for part in (slice(0, 7), slice(7, None)):
        tally.add([column[part] for column in columns])
    counts = LabelCounts(tally.outcomes())
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
        write(folder / "0.parquet", [["x"]], [["x"]], [["y"]])
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
        ("nulls", r"1\.parquet, row group 1: column 'pred_a': a label is missing \(null\); expected one in every row"),
        ("unknown label", r"1\.parquet, row group 2: column 'pred_b': 'yy' is not valid; expected one of x, y \(did"),
        ("schemas differ", r"1\.parquet: column 'label': int64 is not valid; expected string, as in .*0\.parquet"),
        ("floats", r"0\.parquet: column 'label': double is not valid; expected whole numbers, strings or booleans"),
        ("lists", r"0\.parquet: column 'label': list<.*> is not valid; .* one label a row"),
        ("mixed", r"0\.parquet: column 'pred_b': int64 is not valid; expected strings, as in column 'label'"),
        ("no column", r"0\.parquet: column 'pred_a' is not there; did you mean 'pred_aa'\?"),
        ("truncated", r"1\.parquet: is not a whole Parquet file"),
        ("flipped", r"1\.parquet, row group 0: cannot be read"),
        ("empty", r"data/0\.parquet: there are no rows"),
    ],
)
def test_what_is_wrong_is_named_with_its_file_and_row_group(tmp_path, what, complaint):
    folder = damaged(tmp_path, what)
    alone = what in ("floats", "lists", "mixed", "no column", "empty")
    with pytest.raises(ValueError, match=complaint) as caught:
        read(folder / "0.parquet" if alone else folder, classes=["x", "y"])
    assert "\n" not in str(caught.value)


def test_what_is_not_there_is_named(tmp_path):
    for path, complaint in (
        ("gone.parquet", "there is no such file"),
        (".", "holds no Parquet"),
        ("*.parquet", "no such"),
    ):
        with pytest.raises(ValueError, match=complaint):
            read_counts(path, tmp_path, **NAMES)
    with pytest.raises(ValueError, match=r"cannot be read"):
        read_counts("nosuchscheme://x", tmp_path, **NAMES)
    counts = LabelCounts({("cat", "dog", "cat"): 3})
    with pytest.raises(ValueError, match=r"positive: 'ca' is not valid; .*\(did you mean 'cat'\?\)"):
        counts.population("ca")


def test_sturms_systems_by_enumeration_of_all_assignments():
    for classes, right in ((10, 0.03), (3, 0.0), (2, 1.0), (4, 0.5)):
        found = np.zeros(4)
        for a in range(classes):  # the true class is 0
            for b in range(classes):
                chance = (1 - right) / classes + right * (b == 0)
                found[(a != 0) + 2 * (b != 0)] += chance / classes
        population = random_classifiers(classes, right)
        assert np.allclose(population.outcomes, [*found, 0, 0, 0, 0], rtol=1e-14, atol=0)
        assert null_holds(population, {"test": "mcnemar"}) == (right == 0)


def test_swapping_exchanges_the_outputs_of_each_row_at_random():
    population = Population(outcomes=(50, 400, 100, 10, 5, 300, 20, 115), swapped=True)
    drawn = population.draw(200, np.random.default_rng(3), 4000)
    assert (drawn.sum(axis=1) == 200).all()
    mean = drawn.mean(axis=0)
    expected = 0.2 * np.array([50, 250, 250, 10, 5, 160, 160, 115])
    # A count of 200 draws has at most the variance 50, its mean over 4,000 test sets a standard error below 0.12.
    assert (np.abs(mean - expected) < 6 * 0.12).all()
    for measure in ("accuracy", "f1"):
        assert population.difference(measure) == 0
    plain = Population(outcomes=population.outcomes)
    a, b = JointOutcomes(*plain.outcomes).confusion_a, JointOutcomes(*plain.outcomes).confusion_b
    assert plain.difference("f1") == pytest.approx(f1(*b) - f1(*a))
    assert plain.difference("accuracy") == pytest.approx(accuracy(*b) - accuracy(*a))
    assert null_holds(population, {"test": "bootstrap", "measure": "f1"})
    assert exact_rate(plain, 20, {"test": "bootstrap", "measure": "f1"}, 0.05) is None
