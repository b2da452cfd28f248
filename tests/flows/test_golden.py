"""Golden studies: the plan, the replicates, the summary and the numbers of the report stay what they are.

The studies are in the folder ``golden``, and ``golden.json`` holds what they give; ``python -m
tests.flows.test_golden`` writes it anew, where a change of results is meant.
"""

import hashlib
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
from html import unescape
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from sigstats.flows.commands import main

GOLDEN = Path(__file__).with_name("golden.json")
#: Columns of replicates that rounding may change: the others are compared exactly.
CLOSE = 1e-12
#: So many values of a column are kept as they are.
MOST = 6

#: The study files by their names.
STUDIES = {path.stem: path for path in sorted(Path(__file__).with_name("golden").glob("*.toml"))}


def make_inputs(folder):
    """The files that studies read."""
    row = np.arange(90)
    label, region = row % 3, np.array(["north", "south"])[row % 2]
    for name, step in (("baseline", 7), ("candidate-1", 4)):
        prediction = np.where(row % step == 0, (label + 1) % 3, label)
        frame = pd.DataFrame({"id": row, "label": label, "prediction": prediction, "region": region})
        frame.to_csv(folder / f"{name}.csv", index=False)
    scores = {name: np.where(row % 3 == 0, 0.75, 0.25) - (row % step) / 16 for name, step in (("a", 5), ("b", 3))}
    (folder / "scored").mkdir()
    frame = pd.DataFrame(
        {
            "label": (row % 3 == 0).astype(int).astype(str),
            "score_a": scores["a"] + 0.125,
            "score_b": scores["b"] + 0.125,
        }
    )
    frame.to_parquet(folder / "scored" / "part.parquet")


def run(name, folder):
    """The folder of the output of a study."""
    path = shutil.copy(STUDIES[name], folder)
    where = [] if name == "regression" else ["--cluster", "serial"]
    main(["run", str(path), "--output", str(folder / name), *where])
    return folder / name


def found_in(output):
    """What an output holds, without what differs from machine to machine."""
    if (output / "history").exists():
        (history,) = (output / "history").rglob("*.parquet")
        (page,) = (output / "comparisons").glob("*.html")
        rows = pq.read_table(history).drop_columns(["evaluation", "evaluated_at", "baseline", "candidate"])
        return {"history": columns(rows), "numbers": numbers(page, output.parent)}
    plan = pq.read_table(output / "plan.parquet")
    return {
        "plan": json.loads(plan.schema.metadata[b"plan"]),
        "cells": {row["cell"]: {"row": sha256(repr(row)), "work": json.loads(row["work"])} for row in plan.to_pylist()},
        "replicates": {
            folder.name: columns(pq.read_table(folder)) for folder in sorted((output / "replicates").iterdir())
        },
        "summary": summary(output),
        "numbers": numbers(output / "report.html", output.parent),
    }


def summary(output):
    """The summary, one text a row: its columns that hold something."""
    rows = pq.read_table(output / "summary.parquet").to_pylist()
    return [{name: value for name, value in row.items() if value not in (None, "")} for row in rows]


def columns(table):
    return {name: digested(table.column(name).to_pylist()) for name in table.column_names}


def digested(values):
    """Few values as they are, many floats, in lists too, as two sums, and others by their hash."""
    if len(values) <= MOST:
        return values
    flat = [each for value in values for each in (value if isinstance(value, list) else [value])]
    if any(isinstance(each, float) for each in flat):
        kept = np.array([each for each in flat if each is not None and math.isfinite(each)])
        return [len(kept), math.fsum(kept), math.fsum(kept * np.cos(np.arange(len(kept))))]
    return sha256(repr(values))


def sha256(*texts):
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()


def numbers(page, folder):
    """The numbers of a page, in their order, without the drawings, the study file, the versions and the glossary."""
    text = page.read_text().replace(str(folder), "").partition("<h3>How to reproduce it</h3>")[0]
    text = text.partition('<details class="words">')[0]
    text = re.sub(r"<(style|script|svg)\b.*?</\1>|<[^>]*>", " ", text, flags=re.DOTALL)
    return " ".join(re.findall(r"\d[\d,.]*", unescape(text)))


def near(found, golden):
    """Whether two values of JSON are equal, floats but for rounding."""
    if isinstance(golden, dict):
        return (
            isinstance(found, dict) and [*found] == [*golden] and all(near(found[key], golden[key]) for key in golden)
        )
    if isinstance(golden, list):
        return len(found) == len(golden) and all(map(near, found, golden))
    if isinstance(golden, float) and isinstance(found, float):
        return found == golden or math.isclose(found, golden, rel_tol=CLOSE, abs_tol=CLOSE) or found != found != golden
    return type(found) is type(golden) and found == golden


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """The folder of the files that studies read, and of their outputs."""
    folder = tmp_path_factory.mktemp("golden")
    make_inputs(folder)
    return folder


@pytest.mark.parametrize("name", STUDIES)
def test_plan_replicates_summary_and_report_are_those_that_are_stored(name, inputs, capsys):
    found, golden = json.loads(json.dumps(found_in(run(name, inputs)))), json.loads(GOLDEN.read_text())[name]
    for part, expected in golden.items():
        if part == "summary":
            # A column that came later is no other result.
            rows = zip(found[part], expected, strict=True)
            found[part] = [{key: row[key] for key in row if key in kept} for row, kept in rows]
        wrong = (
            [key for key in expected if not near(found[part][key], expected[key])] if isinstance(expected, dict) else ()
        )
        assert near(found[part], expected), (part, wrong or (found[part], expected))
    capsys.readouterr()
    run(name, inputs)
    assert {"regression": "nothing new"}.get(name, "nothing was left to compute") in "".join(capsys.readouterr())


@pytest.mark.faults
def test_they_are_the_same_where_blas_adds_in_the_order_of_another_processor(repository):
    """OpenBLAS chooses its order by processor; this is the oldest of 64 bits, which others than x86 do not know."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "stored", str(Path(__file__))]
    environment = {**os.environ, "OPENBLAS_CORETYPE": "Prescott"}
    ran = subprocess.run(command, cwd=repository, env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout[-2000:]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        make_inputs(Path(made))
        golden = {name: found_in(run(name, Path(made))) for name in STUDIES}
    studies = (f"{json.dumps(name)}: {json.dumps(each)}" for name, each in golden.items())
    GOLDEN.write_text("{\n" + ",\n".join(studies) + "\n}\n")
