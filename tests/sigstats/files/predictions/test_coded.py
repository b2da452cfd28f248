"""Tables joined by the codes of their classes: what is found, and what is refused, is that of text."""

from dataclasses import fields, is_dataclass

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sigstats.files.predictions import Columns, join, read

from ....examples import examples

#: Columns of the same three classes, as people store them.
SPELLINGS = {
    "whole": lambda codes: codes,
    "text": lambda codes: codes.astype(str),
    "floats": lambda codes: codes.astype(float),
    "spaced": lambda codes: (codes * 60 - 60).astype(np.int8),
    "above int64": lambda codes: codes.astype(np.uint64) + np.uint64(2**63 - 1),
    "unused": lambda codes: pd.Categorical(codes.astype(str), categories=["9", "2", "1", "0"]),
    "categories": lambda codes: pd.Categorical(codes.astype(str)),
    "truth": lambda codes: codes > 0,
    "names": lambda codes: np.array(["cat", "dog", "owl"])[codes],
}


def in_lists(value):
    """A record, and what it holds, without arrays."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if is_dataclass(value):
        return {field.name: in_lists(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, dict):
        return {name: in_lists(item) for name, item in value.items()}
    return [*map(in_lists, value)] if isinstance(value, tuple) else value


def joined(paths, columns):
    """All that a join says, or the words with which it refuses."""
    try:
        found = join(*(read(str(path), columns) for path in paths), columns)
    except ValueError as error:
        return str(error)
    return in_lists(found)


@pytest.mark.long
@settings(max_examples=examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.data())
def test_codes_and_text_say_the_same(tmp_path, data):
    n = data.draw(st.integers(1, 12))
    kinds = [data.draw(st.sampled_from(sorted(SPELLINGS))) for _ in range(2)]
    classes = st.lists(st.integers(0, 2), min_size=n, max_size=n).map(np.array)
    label, ids = data.draw(classes), np.cumsum(data.draw(st.lists(st.integers(1, 3), min_size=n, max_size=n)))
    paths = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    for path, kind in zip(paths, kinds, strict=True):
        spell = SPELLINGS[kind]
        here = label if data.draw(st.integers(0, 9)) else data.draw(classes)  # once in ten other labels
        table = pd.DataFrame({"id": ids, "label": spell(here), "prediction": spell(data.draw(classes))})
        if data.draw(st.integers(0, 4)):
            table["part"] = label % 2 if data.draw(st.integers(0, 4)) else data.draw(classes)
        if not data.draw(st.integers(0, 4)):
            table["id"] = table["id"].to_numpy()[data.draw(st.permutations(range(n)))]
        table["mark"] = label / 4
        table.to_parquet(path, index=False, row_group_size=data.draw(st.integers(1, n)))
    options = {"slices": ("part",)} if data.draw(st.booleans()) else {"group": "part"}
    options |= {"score": "mark"} if data.draw(st.booleans()) else {}
    assert joined(paths, Columns().but(**options, coded=True)) == joined(paths, Columns().but(**options))


def test_a_pair_of_large_files_is_joined_by_codes(tmp_path):
    frame = pd.DataFrame({"id": range(5000), "label": np.arange(5000) % 3, "part": (np.arange(5000) % 20).astype(str)})
    for name in "ab":
        frame.assign(prediction=frame["label"]).to_parquet(tmp_path / f"{name}.parquet", index=False)
    columns = Columns().but(slices=("part",), coded=True)
    sides = [read(str(tmp_path / f"{name}.parquet"), columns) for name in "ab"]
    assert all(pa.types.is_dictionary(side.outcomes.label.type) for side in sides)
    assert all(pa.types.is_integer(side.ids.type) for side in sides)
    found = join(*sides, columns)
    assert found.outcomes.classes == ("0", "1", "2")
    assert found.units.slices["part"][1].tolist() == [
        sorted(map(str, range(20))).index(str(n % 20)) for n in range(5000)
    ]


def test_a_number_that_no_float_holds_is_named_by_its_row_in_codes_too(tmp_path):
    frame = pd.DataFrame({"id": range(9), "label": "1", "prediction": ["1"] * 5 + ["9" * 400] + ["1"] * 3})
    frame.to_parquet(tmp_path / "a.parquet", index=False)
    for coded in (False, True):
        with pytest.raises(
            ValueError, match=r"row 5 \(from 0\): column 'prediction': .*; expected a class, or a number"
        ):
            read(str(tmp_path / "a.parquet"), Columns().but(coded=coded))
