"""Studies of every kind by a relative path, from another folder than their own; their data lie beside them."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import sigstats
from sigstats.flows.commands import main
from sigstats.flows.running.kind import find_study, kind_of
from sigstats.flows.running.options import run_options

from ...lazily import lazily

deployment = lazily("sigstats.flows.orchestration.deployment")

STUDIES = {
    "regression": """\
baseline = "data/a.csv"
candidate = "data/[b-c]*.csv"
""",
    "significance": """\
[[tables]]
name = "rows"
path = "data/a.csv"
""",
    "benchmark": """\
folder = "data"
permutation.resamples = 19
[[datasets]]
name = "rows"
source = "csv"
path = "a.csv"
target = "label"
[[classifiers]]
name = "nearest"
learner = "k-nn"
""",
    "calibration": """\
seed = 5
sizes = [40]
trials = 20
[[populations]]
name = "population"
source = "parquet"
path = "data/both.parquet"
positive = 1
[[tests]]
test = "mcnemar"
""",
}


@pytest.fixture(params=STUDIES)
def kind(request, tmp_path, monkeypatch):
    """The kind of a study in the folder ``sub [1]`` of the working folder."""
    folder, rng = tmp_path / "sub [1]", np.random.default_rng(0)
    (folder / "data").mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    label = rng.integers(0, 2, 100)
    a, b = (np.where(rng.random(100) < wrong, 1 - label, label) for wrong in (0.3, 0.2))
    for name, prediction in (("a", a), ("b", b)):
        rows = pd.DataFrame({"id": range(100), "label": label, "prediction": prediction})
        rows.to_csv(folder / f"data/{name}.csv", index=False)
    pd.DataFrame({"label": label, "pred_a": a, "pred_b": b}).to_parquet(folder / "data/both.parquet")
    (folder / "study.toml").write_text(f'kind = "{request.param}"\nname = "it"\n{STUDIES[request.param]}')
    monkeypatch.chdir(tmp_path)
    return request.param


@pytest.mark.long
def test_programs_and_python_find_the_data_beside_the_study(kind, printed, tmp_path, monkeypatch):
    assert main(["plan", "sub [1]/study.toml", "--output", "out"]) == 0
    assert main(["run", "sub [1]/study.toml", "--output", "out", "--quiet"]) == 0
    found = sigstats.run_study("sub [1]/study.toml", output="python")
    assert len(found.summary)
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert main(["run", "../sub [1]/study.toml", "--output", "../out", "--quiet"]) == 0
    assert main(["report", "../out"]) == 0
    if kind == "calibration":
        assert "as stored" in printed("replay", "../out", "--trial", "7")


def test_a_deployment_has_places_that_hold_in_any_folder(kind, tmp_path, monkeypatch):
    made = []
    monkeypatch.setenv("PREFECT_API_URL", "http://127.0.0.1:9/api")
    monkeypatch.setattr(deployment, "serve_deployment", lambda deployed, *_: made.append(deployed.parameters))
    deploy = ["deploy", "sub [1]/study.toml", "--output", "out"]
    assert main(deploy) == 0
    if kind != "regression":  # regression studies have no workers
        (tmp_path / "workers").write_text('kind = "local"\n')  # a cluster file needs no suffix
        for cluster in ("workers", "serial", "tcp://127.0.0.1:9"):
            assert main([*deploy, "--cluster", cluster]) == 0
        assert [said["cluster"] for said in made[1:]] == [str(tmp_path / "workers"), "serial", "tcp://127.0.0.1:9"]
    monkeypatch.chdir(tmp_path / "elsewhere")
    said = made[0]
    study, _ = find_study(said["study"])
    options = run_options(study, Path(said["base"]), in_cells=kind_of(study).has_cells, output=said["output"])
    assert kind_of(study).run(study, options).output == str(tmp_path / "out")
