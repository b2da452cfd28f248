"""LightGBM and XGBoost as their makers publish them: the same replicates on a plain loop and on workers."""

import pytest

import sigstats

from .conftest import named, replicates, study_of

pytestmark = pytest.mark.processes

CLASSIFIERS = {
    "lightgbm": named("lightgbm", "lightgbm:LGBMClassifier", n_estimators=3, min_child_samples=2, verbose=-1),
    "xgboost": named("xgboost", "xgboost.XGBClassifier", n_estimators=3),
}


@pytest.mark.long
@pytest.mark.parametrize("package", ["lightgbm", pytest.param("xgboost", marks=pytest.mark.faults)])
def test_a_boosting_package_gives_the_same_replicates_everywhere(tmp_path, package):
    pytest.importorskip(package, reason=f"{package} is not installed: the group boosting of pyproject.toml")
    study = study_of(tmp_path, [CLASSIFIERS[package]])
    for cluster in ("serial", "local"):
        workers = 1 if cluster == "local" else None
        sigstats.run_study(study, output=tmp_path / cluster, cluster=cluster, workers=workers, allow=[package])
    serial = replicates(tmp_path / "serial")
    assert len(serial) == 2
    assert serial == replicates(tmp_path / "local")
