"""One meaning of a column at every door: frames and arrays of `compare`, of an assertion, and tables of models."""

import numpy as np
import pandas as pd
import pytest

import sigstats

N = 160
K = np.arange(N) % 4
Y = np.random.default_rng(0).integers(0, 2, N)
A, B = (np.where(np.random.default_rng(seed).random(N) < share, 1 - Y, Y) for seed, share in ((1, 0.1), (2, 0.2)))
FRAME = pd.DataFrame({"id": range(N), "label": Y, "prediction": A})
DAYS = pd.date_range("2024-01-01", periods=4)
DURATIONS = ["0 days 00:00:00", "1 days 12:00:00", "3 days 00:00:00", "4 days 12:00:00"]
#: A column of each kind, and the text of its values.
COLUMNS = {
    "whole numbers": (pd.Series(K + 1), "1234"),
    "floats": (pd.Series(K + 1.0), "1234"),
    "Int64": (pd.Series(K + 1).astype("Int64"), "1234"),
    "text": (pd.Series(np.array([*"abcd"])[K]), "abcd"),
    "objects": (pd.Series(np.array([*"abcd"])[K], dtype=object), "abcd"),
    "truth values": (pd.Series(K % 2 == 0), ["false", "true"]),
    "boolean": (pd.Series(K % 2 == 0).astype("boolean"), ["false", "true"]),
    "categories": (pd.Series(np.array([*"abcd"])[K]).astype("category"), "abcd"),
    "bins": (pd.cut(pd.Series(K), [-0.5, 0.5, 1.5, 2.5, 3.5]), [f"({k - 0.5}, {k + 0.5}]" for k in range(4)]),
    "periods": (pd.Series(pd.period_range("2024-01", periods=4, freq="M")[K]), [f"2024-0{m}" for m in "1234"]),
    "days": (pd.Series([day.date() for day in DAYS[K]]), [f"2024-01-0{day}" for day in "1234"]),
    "times": (pd.Series(DAYS[K].astype("datetime64[us]")), [f"2024-01-0{day} 00:00:00.000000" for day in "1234"]),
    "durations": (pd.Series(pd.to_timedelta(K * 36, unit="h")), DURATIONS),
    "durations of Arrow": (pd.Series(pd.to_timedelta(K * 36, unit="h")).astype("duration[us][pyarrow]"), DURATIONS),
}


def with_gaps(column, rows):
    """The column without the values of some rows."""
    kept = column if pd.api.types.is_extension_array_dtype(column) else column.astype(object)
    return kept.where(~np.isin(np.arange(N), rows))


def slices_of(rows):
    return [row.slice for row in rows if row.slice != "all rows"]


DOORS = {
    "frames": lambda s: slices_of(
        sigstats.compare(FRAME.assign(s=s), FRAME.assign(s=s, prediction=B), slices=["s"]).rows
    ),
    "arrays": lambda s: slices_of(sigstats.compare(Y, A, B, slices={"s": s}).rows),
    "assertion of a frame": lambda s: slices_of(
        sigstats.assert_at_least(FRAME.assign(s=s), at_least=0.1, slices=["s"]).rows
    ),
    "assertion of arrays": lambda s: slices_of(sigstats.assert_at_least(Y, A, at_least=0.1, slices={"s": s}).rows),
    "models": lambda s: slices_of(sigstats.rank_models(np.column_stack([A == Y, B == Y]), slices={"s": s}).slices),
    "frame of models": lambda s: slices_of(
        sigstats.rank_models(pd.DataFrame({"a": A == Y, "b": B == Y, "s": s}), slices=["s"]).slices
    ),
}


@pytest.mark.long
@pytest.mark.parametrize("kind", COLUMNS)
def test_a_column_of_slices_means_the_same(kind):
    column, names = COLUMNS[kind]
    gaps, wanted = with_gaps(column, [0, 40, 80, 120]), [f"s = {name}" for name in names]
    for name, door in DOORS.items():
        assert door(column) == wanted, name
        assert sorted(door(gaps)) == sorted([*wanted, "s = (missing)"]), name


@pytest.mark.long
@pytest.mark.parametrize("kind", COLUMNS)
def test_a_column_of_groups_means_the_same_and_has_no_gaps(kind):
    column, _ = COLUMNS[kind]
    ps = [
        sigstats.compare(FRAME.assign(s=column), FRAME.assign(s=column, prediction=B), groups="s").rows[0].pvalue,
        sigstats.compare(Y, A, B, groups=column).rows[0].pvalue,
    ]
    assert ps[0] == pytest.approx(ps[1], abs=1e-12)
    groups = sigstats.rank_models(np.column_stack([A == Y, B == Y]), groups=column).groups
    assert groups == column.nunique()
    gap = with_gaps(column, [7])
    for door in (
        lambda: sigstats.compare(FRAME.assign(s=gap), FRAME.assign(s=gap, prediction=B), groups="s"),
        lambda: sigstats.compare(Y, A, B, groups=gap),
        lambda: sigstats.rank_models(np.column_stack([A == Y, B == Y]), groups=gap),
    ):
        with pytest.raises(ValueError, match=r"row 7 \(from 0\).* is empty; expected a value"):
            door()


def test_an_index_named_like_the_id_joins_by_id():
    first, other = FRAME.set_index("id"), FRAME.assign(prediction=B).set_index("id").iloc[::-1]
    assert sigstats.compare(first, other).rows[0].pvalue == sigstats.compare(Y, A, B).rows[0].pvalue
