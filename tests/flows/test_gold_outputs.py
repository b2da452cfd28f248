"""Gold: the outputs of comparisons, checks, rankings and sizes, refusals, and the fingerprints of the ready studies.

``gold_outputs.txt`` holds a line for each output: a digest, or the text itself where that is one line. After a change
of outputs that is meant, ``python -m tests.flows.test_gold_outputs`` writes the file again; with the name of a folder,
it also leaves all outputs there, so that those of two commits can be compared with ``diff -r``.
"""

import contextlib
import hashlib
import io
import os
import re
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from unittest import mock

import numpy as np
import pandas as pd
import pytest

from sigstats.flows.commands import main
from sigstats.flows.config.toml_files import ready_studies
from sigstats.flows.errors import BadInput
from sigstats.flows.running.kind import kind_of, load_study

GOLD = Path(__file__).with_name("gold_outputs.txt")
#: Formats of the outputs of each command.
FORMATS = {
    "compare": ("json", "md", "xml", "html"),
    "check": ("json", "md", "xml"),
    "rank": ("json", "md", "html"),
    "size": ("json",),
}
ABOUT = ("a.csv", "b.csv")
LATENCY = ("--score", "latency_ms")
GRADE = ("--score", "grade", "--higher-is-better", "grade")
PROBABILITY = ("--score", "probability", "--higher-is-better", "probability")
SUMS = ("--measure", "errors/words", "--lower-is-better", "errors")
ITEMS = ("answers-a.csv", "answers-b.csv", "--epoch", "try")
RUNS = ("runs-a.csv", "runs-b.csv", "--run", "seed")
BINARY = ("binary-a.csv", "binary-b.csv", "--label", "truth", "--positive", "1")
COMMANDS = {
    "compare labels": ("compare", *ABOUT),
    "compare labels that are equal": ("compare", "a.csv", "copy.csv", "--slice", "region"),
    "compare measures": ("compare", *ABOUT, "--measure", "macro-f1", "--measure", "kappa"),
    "compare a class": ("compare", *ABOUT, "--measure", "f1", "--positive", "cat", "--slice", "region"),
    "compare probabilities": ("compare", *BINARY, *PROBABILITY, "--measure", "auc", "--measure", "neg-brier"),
    "compare classes and scores": (
        *("compare", *BINARY, "--prediction", "said", "--score", "auc", "--slice", "region"),
        *("--measure", "accuracy", "--measure", "auc"),
    ),
    "compare scores without limits": ("compare", *ABOUT, *LATENCY, "--measure", "mean-score", "--slice", "region"),
    "compare scores with limits": ("compare", *ABOUT, *GRADE, "--measure", "mean-score", "--score-range", "0", "5"),
    "compare several scores": ("compare", "marks-a.csv", "marks-b.csv", *LATENCY, *GRADE),
    "compare ratios": ("compare", "marks-a.csv", "marks-b.csv", *SUMS, "--slice", "region"),
    "compare ratios in groups": ("compare", "marks-a.csv", "marks-b.csv", *SUMS, "--group", "patient"),
    "compare judged": ("compare", *ABOUT, "--human", "human"),
    "compare judged marks": (
        *("compare", "judged-a.csv", "judged-b.csv", "--human", "human", "--score", "mark"),
        *("--higher-is-better", "mark", "--score-range", "0", "1"),
    ),
    "compare groups": ("compare", *ABOUT, "--group", "patient", "--slice", "region"),
    "compare a measure in groups": ("compare", *ABOUT, "--group", "patient", "--measure", "macro-f1"),
    "compare weights": ("compare", *ABOUT, "--weights", "stands_for", *LATENCY, "--measure", "mean-score"),
    "compare weighted labels": ("compare", *ABOUT, "--weights", "stands_for", "--measure", "macro-f1"),
    "compare runs": ("compare", *RUNS, "--slice", "region"),
    "compare runs of scores": ("compare", *RUNS, *LATENCY, "--measure", "mean-score"),
    "compare items": ("compare", *ITEMS, "--slice", "region"),
    "compare items at k": ("compare", *ITEMS, "--measure", "pass@2", "--group", "patient"),
    "compare items of unlike numbers": ("compare", "answers-a.csv", "fewer-b.csv", "--epoch", "try"),
    "compare slices": ("compare", *ABOUT, "--slice", "region", "--slice", "label", "--slice", "words=3"),
    "compare slices together": ("compare", *ABOUT, "--slice", "region", "--adjust", "benjamini-yekutieli"),
    "compare candidates": ("compare", *ABOUT, "c.csv", "--slice", "region"),
    "compare margins": (
        *("compare", *ABOUT, *LATENCY, "--measure", "mean-score", "--measure", "accuracy", "--slice", "region"),
        *("--margin", "2pt", "--margin", "latency_ms=10%", "--margin", "region = south=5pt"),
    ),
    "compare tasks": ("compare", *ABOUT, "--task", "task", "--slice", "region"),
    "compare tasks of scores": ("compare", "marks-a.csv", "marks-b.csv", *LATENCY, "--task", "task"),
    "compare measurements": (
        "compare",
        "numbers-a.csv",
        "numbers-b.csv",
        "--measure",
        "neg-mae",
        "--measure",
        "neg-mse",
    ),
    "compare rows without partners": ("compare", "a.csv", "short.csv", "--unmatched", "drop"),
    "compare tests of code": ("compare", "a.xml", "b.xml"),
    "check judged": ("check", "a.csv", "--human", "human", "--at-least", "0.4", "--slice", "region"),
    "check labels": ("check", "a.csv", "--at-least", "0.8", "--slice", "region"),
    "check classes": (
        *("check", "a.csv", "--at-least", "70%", "--positive", "cat", "--measure", "f1", "--measure", "precision"),
        *("--measure", "recall", "--group", "patient"),
    ),
    "check costs": ("check", "marks-a.csv", *LATENCY, "--at-most", "120"),
    "check marks": ("check", "marks-a.csv", *GRADE, "--score-range", "0", "5", "--at-least", "3", "--task", "task"),
    "check ratios": ("check", "marks-a.csv", *SUMS, "--at-most", "0.2"),
    "check runs": ("check", "runs-a.csv", "--run", "seed", "--at-least", "0.7"),
    "check items": ("check", "answers-a.csv", "--epoch", "try", "--measure", "pass@2", "--at-least", "0.9"),
    "rank labels": ("rank", *ABOUT, "c.csv", "--slice", "region"),
    "rank scores in groups": ("rank", "marks-a.csv", "marks-b.csv", "marks-c.csv", *LATENCY, "--group", "patient"),
    "rank measures": ("rank", *ABOUT, "c.csv", "--measure", "macro-f1"),
    "rank items": ("rank", "answers-a.csv", "answers-b.csv", "--epoch", "try"),
    "rank judged": ("rank", *ABOUT, "c.csv", "--human", "human"),
    "rank runs": ("rank", "runs-a.csv", "runs-b.csv", "--run", "seed"),
    "rank votes": ("rank", "votes.csv"),
    "rank votes in groups": ("rank", "votes.csv", "--group", "voter"),
    "size of runs": ("compare", *RUNS, "--power", "0.8"),
    "size from rates": ("size", "--accuracy", "0.9", "--discordance", "0.1", "--drop", "0.02", "--rows", "500"),
    "size from files": ("compare", *ABOUT, "--slice", "region", "--power", "0.8"),
    "size of items": ("compare", *ITEMS, "--power", "0.8", "--drop", "0.05"),
    "size of scores": (
        *("compare", "marks-a.csv", "marks-b.csv", *GRADE, "--score-range", "0", "5"),
        *("--power", "0.8", "--drop", "0.5"),
    ),
    "size of a leaderboard": ("rank", *ABOUT, "c.csv", "--power", "0.8"),
}
REFUSALS = (
    ("compare", *ABOUT, "--score", "grade"),
    ("compare", *ABOUT, "--score", "absent", "--higher-is-better", "absent"),
    ("compare", *ABOUT, "--label", "absent"),
    ("compare", *ABOUT, "--measure", "nonsense"),
    ("compare", *ABOUT, "--measure", "micro-f1"),
    ("compare", *ABOUT, "--measure", "mean-score"),
    ("compare", *ABOUT, "--measure", "auc"),
    ("compare", *ABOUT, "--measure", "ratio"),
    ("compare", *ABOUT, "--measure", "pass@2"),
    ("compare", *ABOUT, "--measure", "neg-mae"),
    ("compare", *ABOUT, "--measure", "f1"),
    ("compare", *ABOUT, "--measure", "f1", "--positive", "bird"),
    ("compare", *ABOUT, "--measure", "accuracy", "--positive", "bird"),
    ("compare", *ABOUT, *LATENCY, "--measure", "accuracy", "--higher-is-better", "latency_ms"),
    ("compare", *ABOUT, *LATENCY, "--measure", "neg-brier"),
    ("compare", *ABOUT, *GRADE, "--measure", "kappa"),
    ("compare", *ABOUT, *GRADE, "--score-range", "0", "1", "--measure", "mean-score"),
    ("compare", *ABOUT, *GRADE, "--score-range", "1", "0"),
    ("compare", *ABOUT, "--score-range", "0", "1"),
    ("compare", *ABOUT, *SUMS, "--measure", "mean-score"),
    ("compare", *ABOUT, *SUMS, *GRADE),
    ("compare", "marks-a.csv", "marks-b.csv", *GRADE, "--measure", "accuracy"),
    ("compare", "marks-a.csv", "b.csv", *GRADE),
    ("compare", "marks-a.csv", "marks-b.csv", *GRADE, "--measure", "neg-brier"),
    ("compare", *ABOUT, "--weights", "stands_for", "--measure", "auc", *PROBABILITY),
    ("compare", *ITEMS, "--weights", "stands_for"),
    ("compare", *RUNS, "--weights", "stands_for"),
    ("compare", *RUNS, "--group", "patient"),
    ("compare", *RUNS, "--epoch", "seed"),
    ("compare", *RUNS, "--measure", "pass@2"),
    ("compare", *ITEMS, "--measure", "pass@9"),
    ("compare", "runs-a.csv", "runs-b.csv"),
    ("compare", *ABOUT, "--weights", "region"),
    ("compare", *ABOUT, "--weights", "loss"),
    ("compare", *ABOUT, "--human", "human", "--measure", "kappa"),
    ("compare", *ABOUT, "--human", "region"),
    ("compare", *ABOUT, "--human", "absent"),
    ("compare", *ABOUT, "--group", "absent"),
    ("compare", *ABOUT, "--slice", "region=3"),
    ("compare", *ABOUT, "--margin", "nothing=1pt"),
    ("compare", *ABOUT, "--run", "region"),
    ("compare", "a.csv", "short.csv"),
    ("compare", "a.csv", "a.xml"),
    ("compare", "a.csv", "numbers-b.csv"),
    ("compare", "a.csv", "binary-b.csv"),
    ("compare", "numbers-a.csv", "numbers-b.csv"),
    ("check", "a.csv", "--at-least", "5"),
    ("check", "a.csv", "--at-least", "0.5", "--measure", "macro-f1"),
    ("check", "marks-a.csv", *GRADE, "--at-least", "9", "--score-range", "0", "5"),
    ("rank", *ABOUT, "--measure", "pass@2"),
    ("rank", "marks-a.csv", "marks-b.csv", "--score", "grade"),
    ("size", "marks-a.csv", "marks-b.csv"),
)
STUDIES = tuple(ready_studies())


def make_inputs(folder):
    """Write the files that the commands read."""
    n, rng = 240, np.random.default_rng(11)
    classes = np.array(["cat", "cow", "dog"])
    label, shift = rng.integers(0, 3, n), rng.integers(1, 3, n)
    rows = pd.DataFrame({"id": [f"r{row}" for row in range(n)], "label": classes[label]})
    rows["region"] = np.array(["north", "south", "west"])[rng.integers(0, 3, n)]
    rows["patient"] = rng.integers(0, 30, n)
    rows["task"] = np.array(["first", "second", "third"])[np.arange(n) % 3]
    rows["stands_for"] = rng.integers(1, 4, n)
    rows["words"] = rng.integers(5, 40, n)
    rows["human"] = np.where(np.arange(n) % 4 == 0, rng.integers(0, 2, n).astype(str), "")
    hard = rng.random(n)
    for name, wrong in (("a", 0.15), ("b", 0.2), ("c", 0.35)):
        missed = 0.6 * hard + 0.4 * rng.random(n) < wrong * 1.6
        model = rows.assign(prediction=classes[np.where(missed, (label + shift) % 3, label)])
        model["grade"] = np.round(5 * (1 - wrong * rng.random(n) - missed / 4), 2)
        model["latency_ms"] = np.round(80 + 100 * wrong + 40 * rng.random(n), 1)
        model["loss"] = np.round(rng.random(n) - wrong, 3)
        model["errors"] = rng.binomial(rows["words"], wrong)
        model["probability"] = np.round(np.where(label == 0, 0.6, 0.2) + 0.4 * rng.random(n) * (1 - wrong), 3)
        model.to_csv(folder / f"{name}.csv", index=False)
        model.drop(columns=["label", "prediction"]).to_csv(folder / f"marks-{name}.csv", index=False)
        judged = model[["id", "human", "region"]].assign(mark=np.round((model["grade"] / 5).clip(0, 1), 3))
        judged["human"] = np.where(judged["human"] == "", "", (judged["mark"] > 0.8).astype(int).astype(str))
        judged.to_csv(folder / f"judged-{name}.csv", index=False)
        binary = pd.DataFrame({"id": rows["id"], "truth": (label == 0).astype(int), "region": rows["region"]})
        binary["said"] = (model["probability"] > 0.5).astype(int)
        binary.assign(probability=model["probability"], auc=model["grade"]).to_csv(
            folder / f"binary-{name}.csv", index=False
        )
        numbers = pd.DataFrame({"id": rows["id"], "label": np.round(10 * hard, 3)})
        numbers["prediction"] = np.round(numbers["label"] + wrong * rng.standard_normal(n), 3)
        numbers.to_csv(folder / f"numbers-{name}.csv", index=False)
        answers, runs = [], []
        for attempt in range(4):
            again = 0.6 * hard + 0.4 * rng.random(n) < wrong * 1.6
            said = model.assign(prediction=classes[np.where(again, (label + shift) % 3, label)])
            answers.append(said.assign(**{"try": attempt})[:60])
            runs.append(said.assign(seed=attempt, latency_ms=said["latency_ms"] + attempt))
        pd.concat(answers).to_csv(folder / f"answers-{name}.csv", index=False)
        pd.concat(answers[:2]).to_csv(folder / f"fewer-{name}.csv", index=False)
        pd.concat(runs).to_csv(folder / f"runs-{name}.csv", index=False)
        fails = "".join(
            f'<testcase name="{name}">{"<failure/>" if bad else ""}</testcase>'
            for name, bad in zip(rows["id"], missed, strict=True)
        )
        (folder / f"{name}.xml").write_text(f'<testsuite name="code">{fails}</testsuite>')
    model[:200].to_csv(folder / "short.csv", index=False)
    (folder / "copy.csv").write_bytes((folder / "a.csv").read_bytes())
    strength = {"ours": 1.0, "theirs": 0.4, "third": 0.0}
    votes = []
    for vote in range(300):
        first, second = rng.choice([*strength], 2, replace=False)
        wins = rng.random() < 1 / (1 + np.exp(strength[second] - strength[first]))
        winner = "tie" if rng.random() < 0.1 else "model_a" if wins else "model_b"
        votes.append({"model_a": first, "model_b": second, "winner": winner, "voter": f"v{vote % 40}"})
    pd.DataFrame(votes).to_csv(folder / "votes.csv", index=False)


def called(arguments):
    """The exit code of a command, and the texts that it prints and reports."""
    out, err = io.StringIO(), io.StringIO()
    wide = mock.patch.dict(os.environ, COLUMNS="160")
    with wide, contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main([*arguments])
    return code, out.getvalue(), err.getvalue()


def steady(text):
    """The text without the version, and with numbers of 12 digits: the order of a sum is the processor's."""
    text = text.replace(version("sigstats"), "VERSION")
    return re.sub(r"\d\.\d{12,}(?:e[+-]\d+)?", lambda number: f"{float(number.group()):.12g}", text)


def outputs_of(name, kept):
    """The lines of the gold file about a command, which runs in the folder of its inputs."""
    command = COMMANDS[name][0]
    targets = {kind: f"output.{kind}" for kind in FORMATS[command]}
    named = [
        part for kind, target in targets.items() for part in (f"--{'json' if kind == 'json' else 'report'}", target)
    ]
    code, out, err = called((*COMMANDS[name], *named))
    lines = {f"{name}: begins": f"{code} {(out.splitlines() or [err.strip()])[0]}"}
    texts = {"text": out, **{kind: Path(path).read_text() for kind, path in targets.items()}}
    for kind, text in texts.items():
        lines[f"{name}: {kind}"] = digest(steady(text))
        if kept is not None:
            (kept / f"{name}.{kind}").write_text(steady(text))
    return lines


def refusal_of(arguments, _):
    code, out, err = called(arguments)
    return {" ".join(arguments): f"{code} {(err or out).splitlines()[0]}"}


def fingerprints_of(name, kept):
    """The number of cells of a ready study with the digest of their names and fingerprints; a refusal without data."""
    path = ready_studies()[name]
    kind, nothing = kind_of(study := load_study(path)), {f"study {name}": "has no cells without its data"}
    try:
        cells = kind.prepare(study, path.parent).plan.cells if kind.has_cells else None
    except BadInput:
        cells = None
    if cells is None:
        return nothing
    text = "\n".join(f"{cell.fingerprint} {cell.name}" for cell in cells)
    if kept is not None:
        (kept / f"study {name}").write_text(text)
    return {f"study {name}": f"{len(cells)} cells {digest(text)}"}


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def gold():
    """The lines of the gold file by their names."""
    return dict(line.split(" | ", 1) for line in GOLD.read_text().splitlines())


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("gold")
    make_inputs(folder)
    return folder


@pytest.mark.parametrize("name", COMMANDS)
def test_every_output_of_a_command_is_the_one_that_is_stored(name, inputs, monkeypatch):
    monkeypatch.chdir(inputs)
    outputs, stored = outputs_of(name, None), gold()
    assert outputs == {line: stored.get(line) for line in outputs}


@pytest.mark.parametrize("arguments", REFUSALS, ids=" ".join)
def test_a_refusal_is_the_one_that_is_stored(arguments, inputs, monkeypatch):
    monkeypatch.chdir(inputs)
    refusal, stored = refusal_of(arguments, None), gold()
    assert refusal == {line: stored.get(line) for line in refusal}


@pytest.mark.parametrize("name", STUDIES)
def test_the_cells_of_a_ready_study_have_the_fingerprints_that_are_stored(name):
    fingerprints, stored = fingerprints_of(name, None), gold()
    assert fingerprints == {line: stored.get(line) for line in fingerprints}


def test_the_gold_file_has_no_line_that_nothing_makes():
    made = {f"study {name}" for name in STUDIES} | {" ".join(each) for each in REFUSALS}
    assert {line for line in gold() if line.partition(": ")[0] not in COMMANDS} == made


if __name__ == "__main__":
    kept = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else None
    if kept is not None:
        kept.mkdir(parents=True, exist_ok=True)
    lines = {}
    with tempfile.TemporaryDirectory() as made:
        make_inputs(Path(made))
        os.chdir(made)
        for make, names in ((outputs_of, COMMANDS), (refusal_of, REFUSALS), (fingerprints_of, STUDIES)):
            for name in names:
                lines |= make(name, kept)
    GOLD.write_text("".join(f"{name} | {text}\n" for name, text in lines.items()))
