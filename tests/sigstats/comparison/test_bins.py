"""Slices of numbers: each bin holds neighbouring values and about as many rows as the others."""

import itertools
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sigstats.comparison.units import in_bins


@given(st.lists(st.integers(-20, 20), min_size=1, max_size=300), st.integers(2, 12))
def test_bins_are_ordered_and_each_holds_its_share_of_rows(values, n_bins):
    distinct = sorted(set(values), key=str)  # as text is sorted
    codes = np.array([distinct.index(value) for value in values])
    names, found = in_bins({"age": (tuple(map(str, distinct)), codes)}, {"age": n_bins})["age"]
    by_bin = [[v for v, each in zip(values, found, strict=True) if each == k] for k in range(len(names))]
    assert len(names) <= n_bins
    for name, inside in zip(names, by_bin, strict=True):
        ends = {str(min(inside)), str(max(inside))}
        assert set(name.split(" to ")) == ends
        most_of_one = max(inside.count(value) for value in inside)
        assert len(inside) <= len(values) / n_bins + most_of_one
    assert all(max(low) < min(high) for low, high in itertools.pairwise(by_bin))


def test_other_columns_stay_and_text_is_refused():
    parted = {"age": (("1", "old"), np.array([0, 1])), "region": (("a",), np.array([0, 0]))}
    assert in_bins(parted, {}) == parted
    with pytest.raises(ValueError, match="column 'age' has the value 'old'; expected only numbers for bins"):
        in_bins(parted, {"age": 2})


def test_numbers_with_decimal_commas_are_in_the_bins_of_those_with_points():
    values = np.random.default_rng(3).integers(-400, 1600, 300) / 10
    names, codes = np.unique(values, return_inverse=True)
    points = in_bins({"mass": (tuple(map(str, names)), codes)}, {"mass": 5})["mass"]
    commas = in_bins({"mass": (tuple(str(name).replace(".", ",") for name in names), codes)}, {"mass": 5})["mass"]
    assert commas[0] == tuple(name.replace(".", ",") for name in points[0])
    assert (commas[1] == points[1]).all()
    mixed = {"mass": (("1,250", "950", "30"), np.arange(3))}  # 1250, or 1.25
    with pytest.raises(ValueError, match=r"the point in '1\.250' may separate thousands"):
        in_bins(mixed, {"mass": 2})


@pytest.fixture
def tables(tmp_path):
    rng = np.random.default_rng(5)
    ages = rng.integers(18, 90, 240)
    for name in ("a", "b"):
        rows = [f"{k},{k % 2},{rng.integers(2)},{age}" for k, age in enumerate(ages)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["id,label,prediction,age", *rows]))
    return [str(tmp_path / f"{name}.csv") for name in ("a", "b")]


@pytest.mark.long
@pytest.mark.parametrize("command", ["compare", "rank"])
def test_each_command_takes_bins(tables, printed, command):
    said = printed(command, *tables, "--slice", "age=3", code=(0, 1))
    assert len(set(re.findall(r"age = \d+ to \d+", said))) == 3
    assert "age = 18 to " in said


def test_a_number_that_is_a_slice_is_told_of_bins(tables, printed):
    assert "values of age have fewer than 10 rows; cut numbers into bins (--slice age=4" in printed(
        "compare", *tables, "--slice", "age", code=(0, 1)
    )


def test_a_column_with_an_equals_sign_in_its_name_ends_with_another(tables, printed):
    for path in map(Path, tables):
        path.write_text(path.read_text().replace("prediction,age", "prediction,age=1"))
    assert (
        len(set(re.findall(r"age=1 = \d+ to \d+", printed("compare", *tables, "--slice", "age=1=2", code=(0, 1))))) == 2
    )
    assert "values of age=1 have fewer than 10 rows" in printed("compare", *tables, "--slice", "age=1=", code=(0, 1))


@pytest.mark.parametrize("option", ["age=1", "age=x", "=3", "age=1001"])
def test_bad_bins_are_refused(tables, refused, option):
    assert f"--slice: '{option}' is not valid; expected COLUMN=N" in refused("compare", *tables, "--slice", option)


@pytest.mark.parametrize("command", ["compare", "rank"])
def test_a_mistyped_slice_is_told_with_the_nearest_column(tables, refused, command):
    assert "(did you mean 'age'?)" in refused(command, *tables, "--slice", "agee")


@pytest.mark.parametrize("command", ["compare", "rank"])
def test_rows_without_a_number_are_a_slice_of_their_own(tables, answer, printed, command):
    for path in map(Path, tables):
        head, *rows = path.read_text().splitlines()
        rows = [row.rpartition(",")[0] + "," if k % 4 == 0 else row for k, row in enumerate(rows)]
        path.write_text("\n".join([head, *rows]))
    found = answer(command, *tables, "--slice", "age=3")
    rows = [(row["slice"], row["n"]) for row in found["slices" if command == "rank" else "rows"]]
    sizes = {name: n for name, n in rows if name.startswith("age = ")}
    assert sizes.pop("age = (missing)") == 60
    assert (len(sizes), sum(sizes.values())) == (3, 180)
    assert all(re.fullmatch(r"age = \d+ to \d+", name) and 50 <= n <= 70 for name, n in sizes.items())
    assert "cut numbers into bins (--slice age=4" in printed("compare", *tables, "--slice", "age", code=(0, 1))


@pytest.mark.parametrize(("code", "refused"), [("999", True), ("-999", True), ("99", False), ("81", False)])
def test_a_code_of_missing_ages_is_in_no_bin(code, refused):
    ages = np.array([*map(str, np.random.default_rng(2).integers(18, 81, 200)), *[code] * 20])
    names, codes = np.unique(ages, return_inverse=True)
    parted = {"age": (tuple(names.tolist()), codes)}
    if refused:
        with pytest.raises(ValueError, match=f"20 of 220 for column 'age' are {code} and all others 18 to 80"):
            in_bins(parted, {"age": 3})
    else:
        assert len(in_bins(parted, {"age": 3})["age"][0]) == 3
