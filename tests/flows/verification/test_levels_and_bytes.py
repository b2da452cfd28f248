"""`sigstats verify`: p-values under the null hypothesis, and the bytes of a study on two engines."""

import json
from dataclasses import replace

import numpy as np
import pytest

import sigstats
from sigstats._common.extras import MissingExtra
from sigstats.flows.cli import main
from sigstats.flows.commands import verify
from sigstats.flows.verification import null_levels, reference_set


@pytest.fixture
def few(monkeypatch):
    """Two tests, drawn less often."""
    draws = {name: (null_levels.DRAWS[name][0], 400) for name in ("mcnemar_test", "goodness_of_fit_test")}
    monkeypatch.setattr(null_levels, "DRAWS", draws)


def test_levels_that_hold_pass(few, capsys):
    assert main(["verify", "--only", "levels", "--json", "-"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [each["drawn"] for each in found["levels"]] == [400, 400]
    assert "cases" not in found


@pytest.mark.parametrize("seed", [-1, 2**63])
def test_a_seed_that_is_none_is_refused_before_anything_is_checked(few, capsys, seed):
    assert main(["verify", f"--seed={seed}"]) == 2
    out, err = capsys.readouterr()
    assert not out
    assert err == f"sigstats: --seed: {seed} is not valid; expected a whole number from 0 to {2**63 - 1}\n"


def test_an_output_that_cannot_be_written_is_refused_before_anything_is_checked(few, tmp_path, capsys):
    assert main(["verify", "--json", str(tmp_path / "none" / "found.json")]) == 2
    out, err = capsys.readouterr()
    assert not out
    assert "none/found.json: cannot be written" in err


def test_every_draw_gives_a_p_value():
    rng = np.random.default_rng(0)
    for draw, _ in null_levels.DRAWS.values():
        assert all(0 <= draw(rng) <= 1 for _ in range(3))


def test_every_test_of_the_reference_set_that_promises_a_level_is_drawn():
    approximate = {"auc_test", "dcf_test", "proportion_test", "mean_score_test"}
    approximate |= {"bootstrap_test", "corrected_resampled_test", "five_by_two_test"}
    no_tests = {
        "accuracy_difference",
        "adjust_pvalues",
        "clopper_pearson",
        "discordant_odds_ratio",
        "f1_interval",
        "number_correct",
        "pair_probability",
        "paired_power",
        "type_one_error",
    }
    drawn = {name.partition(",")[0] for name in null_levels.DRAWS}
    assert drawn == set(reference_set.tables()) - approximate - no_tests | {"permutation_test"}


def test_a_test_that_rejects_too_often_is_named(few, monkeypatch, capsys):
    right = sigstats.mcnemar_test
    monkeypatch.setattr(sigstats, "mcnemar_test", lambda a, b: replace(right(a, b), pvalue=right(a, b).pvalue / 6))
    assert main(["verify", "--only", "levels"]) == 3
    said = capsys.readouterr().err
    assert said.startswith("sigstats: mcnemar_test: of 400 p-values under the null hypothesis ")
    assert "goodness_of_fit_test" not in said


def test_what_an_extra_brings_is_named_and_left_out_unless_it_is_asked_for(few, monkeypatch, capsys):
    def absent(*_, **__):
        raise MissingExtra("sklearn")

    monkeypatch.setitem(null_levels.DRAWS, "permutation_test", (absent, 500))
    monkeypatch.setattr(verify, "run_study", absent)
    monkeypatch.setattr(reference_set, "tables", dict)
    monkeypatch.setattr(reference_set, "lacking", list)
    assert main(["verify"]) == 0
    said = capsys.readouterr().out.splitlines()
    (row,) = [line for line in said if line.startswith("permutation_test ")]
    assert row.endswith("0  not drawn: sklearn is not installed; pip install 'sigstats[studies]'")
    assert "bytes: not checked: sklearn is not installed; pip install 'sigstats[studies]'" in said
    assert main(["verify", "--only", "bytes"]) == 2


def test_a_p_value_that_is_uniform_raises_no_alarm():
    rng = np.random.default_rng(1)
    for _ in range(200):
        assert not null_levels.alarm(null_levels.rejections("uniform", list(rng.random(500))))


@pytest.mark.long
@pytest.mark.processes
def test_a_plain_loop_and_workers_leave_the_same_bytes(capsys):
    assert main(["verify", "--only", "bytes"]) == 0
    assert "the same bytes" in capsys.readouterr().out


def test_another_seed_on_one_engine_is_found(monkeypatch, capsys):
    right = verify.run_study

    def other(seed, output, cluster, workers=None):
        right(seed + (cluster == "local"), output, "serial")

    monkeypatch.setattr(verify, "run_study", other)
    monkeypatch.setitem(verify.STUDY, "classifiers", ["naive-bayes"])
    assert main(["verify", "--only", "bytes"]) == 3
    assert "summary.parquet of a study differs between a plain loop and local workers" in capsys.readouterr().err
