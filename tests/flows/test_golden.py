"""Golden studies: the plan, the replicates, the summary and the numbers of the report stay what they are.

``golden.json`` holds them; ``python -m tests.flows.test_golden`` writes it anew, where a change of
results is meant.
"""

import hashlib
import json
import math
import os
import re
import subprocess
import sys
import tempfile
from html import unescape
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from sigstats.flows.cli import main
from sigstats.flows.report.toml_text import toml_text

GOLDEN = Path(__file__).with_name("golden.json")
#: Columns of replicates that rounding may change: the others are compared exactly.
CLOSE = 1e-12
#: So many values of a column are kept as they are.
MOST = 6

TABLES = {
    "resamples": 499,
    "tables": [
        {
            "name": "ulcers",
            "counts": [[9, 7, 3], [15, 17, 13], [3, 7, 28]],
            "methods": ["auto", "mid-p", "chi2", "monte-carlo"],
            "printed": {"auto": "5.85e-5"},
        }
    ],
    "pairs": [{"name": "pair", "a": "A", "b": "B", "only_a": 9, "only_b": 5, "methods": ["exact", "mid-p", "chi2"]}],
    "samples": [
        {
            "name": "samples",
            "a": "A",
            "b": "B",
            "counts_a": [3, 4, 5],
            "counts_b": [5, 4, 9],
            "methods": ["exact", "bounds", "chi2", "monte-carlo"],
        }
    ],
    "requirements": [
        {
            "name": "required",
            "counts": [8, 3, 1],
            "probabilities": [0.5, 0.25, 0.25],
            "methods": ["exact", "chi2", "likelihood-ratio", "monte-carlo"],
        }
    ],
    "outcomes": [
        {
            "name": "outcomes",
            "a": "A",
            "b": "B",
            "counts": [20, 7, 3, 5, 25, 4, 9, 6],
            "methods": ["proportion", "proportion-independent", "dcf", "dcf-independent", "bootstrap"],
            "cost_fn": 2.0,
            "cost_fp": 1.0,
            "prior": 0.4,
        }
    ],
    "enumerations": [{"name": "listed", "counts": [[2, 1], [1, 2]]}],
    "sizes": [{"name": "level", "alpha": 0.05}],
    "scores": [
        {
            "name": "scores",
            "values": {"A": [0.8, 0.7, 0.9, 0.6], "B": [0.7, 0.75, 0.8, 0.55], "C": [0.5, 0.6, 0.65, 0.7]},
        }
    ],
}
BENCHMARK = {
    "seed": 5,
    "datasets": [
        "iris",
        {
            "name": "letters",
            "source": "inline",
            "rows": ["1 x yes", "2 y no", "3 x yes", "4 y no", "5 x yes", "6 y no", "7 y yes", "8 x no"],
        },
    ],
    "classifiers": ["1-nn", "naive-bayes"],
    "cross_validation": {"folds": 2, "repeats": 3},
    "permutation": {"resamples": 29},
    "tests": ["permutation", "efficiency", "mcnemar", "homogeneity", "bootstrap", "corrected-resampled"],
}
MEASURED = {
    **BENCHMARK,
    "datasets": ["wine"],
    "permutation": {"resamples": 19, "measure": "macro-f1", "nulls": ["labels"]},
    "measures": ["macro-f1", "auc"],
    "tests": ["permutation", "corrected-resampled"],
    "classifiers": ["naive-bayes", "lda"],
}
DRAWN = {
    "seed": 1,
    "sizes": [40],
    "trials": 60,
    "populations": [
        {
            "name": "simulated",
            "source": "simulated",
            "prevalence": [0.4],
            "recall": [0.7],
            "precision": [0.7],
            "difference": [0.1],
            "dependence": [0.3],
        }
    ],
    "tests": [
        {"test": "mcnemar"},
        {"test": "mcnemar", "method": "chi2", "alternative": "less"},
        {"test": "proportion"},
        {"test": "dcf"},
        {"test": "bootstrap", "resamples": 49},
        {"test": "f1-interval", "method": "wilson"},
        {"test": "f1-interval", "method": "bca", "resamples": 49},
        {"test": "f1-interval", "of": "a", "method": "exact"},
    ],
}
STURM = {
    "seed": 1,
    "sizes": [25, 50],
    "trials": 60,
    "populations": [{"name": "two classes", "source": "sturm", "classes": 2, "right": [0.0, 0.1]}],
    "tests": [{"test": "mcnemar"}, {"test": "bootstrap", "measure": "accuracy", "resamples": 49}],
}
TRAINED = {
    "seed": 3,
    "sizes": [30],
    "trials": 40,
    "populations": [
        {
            "name": "wine",
            "source": "trained",
            "dataset": {"name": "wine"},
            "train": 60,
            "test": 50,
            "a": {"learner": "naive-bayes"},
            "b": {"learner": "1-nn"},
            "sets": [{"name": "first", "positive": ["class_0"]}],
        }
    ],
    "tests": [{"test": "mcnemar"}, {"test": "bootstrap", "resamples": 49}],
}
FOLDS = {
    "seed": 3,
    "sizes": [60],
    "trials": 8,
    "populations": [
        {
            "name": "classes",
            "source": "cross-validated",
            "features": 2,
            "separation": [1.5],
            "difference": [0.0, 1.0],
            "folds": 5,
            "repeats": [2],
        }
    ],
    "tests": [
        {"test": "mcnemar"},
        {"test": "corrected-t", "alternative": "less"},
        {"test": "five-by-two"},
        {"test": "efficiency"},
        {"test": "homogeneity"},
        {"test": "permutation", "resamples": 9},
    ],
}
SCORES = {
    "seed": 4,
    "sizes": [40],
    "trials": 30,
    "populations": [{"name": "scored", "source": "scores", "path": "scored", "positive": "1"}],
    "tests": [{"test": "scores"}, {"test": "scores", "measure": "neg-brier"}],
}
REGRESSION = {
    "baseline": "baseline.csv",
    "candidate": "candidate-*.csv",
    "measures": ["accuracy", "macro-f1"],
    "slices": ["region"],
    "rule": {"resamples": 200},
}
STUDIES = {
    "tables": ("significance", TABLES),
    "benchmark": ("benchmark", BENCHMARK),
    "measured": ("benchmark", MEASURED),
    "drawn": ("calibration", DRAWN),
    "sturm": ("calibration", STURM),
    "trained": ("calibration", TRAINED),
    "folds": ("calibration", FOLDS),
    "scores": ("calibration", SCORES),
    "regression": ("regression", REGRESSION),
}


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
    kind, study = STUDIES[name]
    path = folder / f"{name}.toml"
    path.write_text(toml_text({"kind": kind, "name": name, **study}))
    where = [] if kind == "regression" else ["--cluster", "serial"]
    main(["run", str(path), "--output", str(folder / name), *where])
    return found_in(folder / name)


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
    text = page.read_text().replace(str(folder), "").partition("<h3>How to make it again</h3>")[0]
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
    found, golden = json.loads(json.dumps(run(name, inputs))), json.loads(GOLDEN.read_text())[name]
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
        golden = {name: run(name, Path(made)) for name in STUDIES}
    studies = (f"{json.dumps(name)}: {json.dumps(each)}" for name, each in golden.items())
    GOLDEN.write_text("{\n" + ",\n".join(studies) + "\n}\n")
