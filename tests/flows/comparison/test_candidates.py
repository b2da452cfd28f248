"""`sigstats compare` with several candidates: one family of tests, which to take, and the exit code."""

import json
import shutil
from xml.etree import ElementTree as ET

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests

from sigstats.flows.commands import main


def written(folder, chances, n=1500, seed=0):
    """Files of models that get each row right with these chances, the rows sharing what is hard."""
    rng = np.random.default_rng(seed)
    label, site, hard = rng.choice(["x", "y"], n), rng.choice(["N", "S"], n), rng.random(n)
    paths = {}
    for name, chance in chances.items():
        right = np.where(rng.random(n) < 0.15, rng.random(n), hard) < chance
        prediction = np.where(right, label, "z")
        frame = pd.DataFrame({"id": np.arange(n), "label": label, "prediction": prediction, "site": site})
        paths[name] = str(folder / f"{name}.csv")
        frame.to_csv(paths[name], index=False)
    return paths


def compared(folder, *arguments, code):
    assert main(["compare", *arguments, "--json", str(folder / "found.json")]) == code
    return json.loads((folder / "found.json").read_text())


def test_all_candidates_are_one_family(tmp_path):
    paths = written(tmp_path, {"base": 0.8, "worse": 0.74, "same": 0.8, "better": 0.88})
    found = compared(tmp_path, *paths.values(), "--slice", "site", "--margin", "0.03", code=1)
    rows = [row for each in found["candidates"] for row in each["rows"]]
    assert len(rows) == 9
    expected = multipletests([row["p_worse"] for row in rows], method="holm")[1]
    assert [row["p_adjusted"] for row in rows] == pytest.approx(expected)
    assert [each["verdict"] for each in found["candidates"]] == ["fail", "pass", "pass"]
    base, better = (pd.read_csv(paths[name]) for name in ("base", "better"))
    right = [frame["prediction"] == frame["label"] for frame in (base, better)]
    table = [[0, (right[0] & ~right[1]).sum()], [(right[1] & ~right[0]).sum(), 0]]
    raw = [
        1,
        1 if found["candidates"][1]["rows"][0]["difference"] <= 0 else found["candidates"][1]["rows"][0]["p_differs"],
    ]
    raw.append(mcnemar(table, exact=True).pvalue)
    assert [each["p_better"] for each in found["candidates"]] == pytest.approx(multipletests(raw, method="holm")[1])
    assert found["take"] == paths["better"]
    assert found["better"] == [paths["better"]]


def test_where_none_is_better_none_is_said_to_be(tmp_path, capsys, monkeypatch):
    paths = written(tmp_path, {"base": 0.8, "same": 0.8, "other": 0.8}, seed=3)
    found = compared(tmp_path, *paths.values(), "--margin", "0.05", code=0)
    assert found["better"] == []
    assert "not shown to be better" in found["recommendation"] or "do not score higher" in found["recommendation"]
    monkeypatch.chdir(tmp_path)
    capsys.readouterr()
    (tmp_path / "copy.csv").write_bytes((tmp_path / "base.csv").read_bytes())
    compared(tmp_path, "base.csv", "copy.csv", "other.csv", "--margin", "0.05", code=0)
    said = capsys.readouterr().out
    assert "Copy.csv" not in said
    assert "Other.csv" not in said
    assert said.count("rule:") == 1
    paths = written(tmp_path, {"base": 0.9, "worse": 0.6, "worst": 0.5})
    found = compared(tmp_path, *paths.values(), code=1)
    assert found["take"] is None
    assert found["recommendation"] == f"Keep {paths['base']}: each candidate is worse"
    assert found["recommendation"] in " ".join(capsys.readouterr().out.split())


def test_a_copy_and_a_better_one(tmp_path):
    paths = written(tmp_path, {"base": 0.7, "better": 0.9})
    copy = shutil.copy(paths["base"], tmp_path / "copy.csv")
    found = compared(tmp_path, paths["base"], str(copy), paths["better"], code=0)
    assert [each["identical"] for each in found["candidates"]] == [True, False]
    assert found["take"] == paths["better"]


def test_page_markdown_and_junit_name_each_candidate(tmp_path):
    paths = written(tmp_path, {"base": 0.8, "a<b>": 0.7, "c|d": 0.88})
    report, junit = tmp_path / "page.html", tmp_path / "junit.xml"
    arguments = ["--report", f"{tmp_path}/t.md", "--report", str(report), "--report", str(junit)]
    assert main(["compare", *paths.values(), *arguments]) == 1
    assert "c\\|d" in (tmp_path / "t.md").read_text()
    page = report.read_text()
    assert "a&lt;b&gt;" in page
    assert "a<b>" not in page
    suites = ET.parse(junit).getroot().findall("testsuite")
    assert [suite.get("failures") for suite in suites] == ["1", "0"]


def test_bad_input_of_any_candidate_is_one_line(tmp_path, refused):
    paths = written(tmp_path, {"base": 0.8, "same": 0.8})
    assert len(refused("compare", *paths.values(), tmp_path / "nosuch.csv").splitlines()) == 1
