"""The table of metrics: exact names state a direction, limits and a unit; nothing within a name does."""

import numpy as np
import pandas as pd
import pytest

import sigstats
from sigstats.flows.commands import main
from sigstats.measures.metrics import is_lower_better, limits_of, metric_of, unit_of
from sigstats.measures.table import MEASURES, in_our_words

STATED = {
    "lower": "loss val_loss eval-loss WER Log_Loss nll mse cross_entropy brier_score latency_ms cost_usd latency_s",
    "higher": "f1 F1-Score rougeL acc_norm exact_match NDCG@10 pass@1 val_accuracy score neg_log_loss tpr",
    "class": "proba y_score p",
}
ASKED = """time_qa ms_marco rank_corr fp16_score false_belief toxicity_detection s1 cost_per_query my_loss revenue_usd
uptime_ms loss_ratio is_incorrect test x ms val_ true_positives score_s error_s c.o.s.t er_r err err@20"""


def test_only_whole_names_state_a_direction():
    for direction, names in STATED.items():
        assert {metric_of(name).direction for name in names.split()} == {direction}
    assert [name for name in ASKED.split() if metric_of(name)] == []
    assert is_lower_better("", lower=(), higher=()) is False
    assert is_lower_better("elo", lower=["elo"]) is True
    assert is_lower_better("proba") is None


def test_units_are_last_words_and_an_amount_has_no_limits():
    names = {"latency_ms": "ms", "cost USD": "USD", "time.seconds": "s", "latency_s": "s", "val-time-s": "s"}
    names |= dict.fromkeys(("s1", "rougeL_s", "ms_marco", "score_s", "s"), "")
    assert {name: unit_of(name) for name in names} == names
    latency = pd.DataFrame({"id": range(300), "latency_s": np.linspace(0.1, 0.6, 300)})
    for bar in ("0.9s", "0.9 seconds", 0.9):
        assert sigstats.check(latency, score="latency_s", at_most=bar).bar == 0.9
    with pytest.raises(ValueError, match=r"'0\.9ms' is not valid; expected a number of s"):
        sigstats.check(latency, score="latency_s", at_most="0.9ms")
    assert (limits_of("accuracy"), limits_of("mcc"), limits_of("wer"), limits_of("correct_tokens")) == (
        *((0, 1), (-1, 1)),
        *(None, None),
    )


@pytest.mark.long
@pytest.mark.parametrize("name", ASKED.split()[:6])
def test_a_worse_candidate_passes_by_no_word_within_a_name(tmp_path, printed, refused, name):
    """80% right against 30% right."""
    marks = [(np.arange(200) % 10 < right).astype(int) for right in (8, 3)]
    frames = [pd.DataFrame({"id": range(200), name: each}) for each in marks]
    files = [str(tmp_path / "good.csv"), str(tmp_path / "bad.csv")]
    for path, frame in zip(files, frames, strict=True):
        frame.to_csv(path, index=False)
    asked = f"Is a higher '{name}' better? Add --higher-is-better {name} or --lower-is-better {name}"
    for command in ("compare", "rank"):
        assert asked in refused(command, *files, "--score", name)
    assert asked in refused("check", files[0], "--score", name, "--at-least", "0.5")
    with pytest.raises(ValueError, match=f"Is a higher '{name}' better. Add higher_is_better='{name}' or lower_is_bet"):
        sigstats.assert_no_regression(*frames, score=name)
    assert main(["compare", *files, "--higher-is-better", name]) == 1
    assert "values have no known limits" in " ".join(printed("compare", *files, "--lower-is-better", name).split())


def test_beside_labels_a_score_of_unknown_name_is_asked_for(tmp_path, refused):
    frame = pd.DataFrame({"id": range(40), "label": [0, 1] * 20, "prediction": [0, 1] * 20, "s1": np.arange(40) / 40})
    with pytest.raises(ValueError, match=r"Is a higher 's1' better\? .*, or measures='auc' for the probability of a"):
        sigstats.compare(frame, frame, score="s1")
    assert sigstats.compare(frame, frame, score="s1", measures="auc").rows[0].measure == "auc"
    with pytest.raises(ValueError, match=", or measures='auc' for the probability of a"):
        sigstats.check(frame, score="s1", at_least=0.5)
    frame.to_csv(path := tmp_path / "a.csv", index=False)
    frame.to_csv(other := tmp_path / "b.csv", index=False)
    assert ", or --measure auc for the probability of a" in refused("rank", path, other, "--score", "s1")


@pytest.mark.parametrize("name", ["loss", "wer", "nll", "mse", "cross_entropy"])
def test_a_cost_below_one_has_no_limits(name):
    """Rare values of 30, which few test sets have: no candidate passes, and one that seems better is no exception."""
    rng = np.random.default_rng(22)
    a = np.round(rng.gamma(4, 0.05, 2000), 4).clip(0.001, 0.98)
    found = sigstats.compare(*(pd.DataFrame({"id": range(2000), name: each}) for each in (a, a * 0.97)), score=name)
    assert found.verdict == "inconclusive"
    assert f"{found.rows[0].name}: values have no known limits" in " ".join(found.notes)
    wide = sigstats.compare(
        *(pd.DataFrame({"id": range(2000), name: each}) for each in (a, a * 0.97)), score=name, score_range=(0, 2)
    )
    assert wide.verdict == "pass"


def test_marks_that_happen_to_be_0_and_1_have_no_limits_unless_the_name_or_a_person_states_them():
    marks = [(np.arange(400) % 10 < 8).astype(float)] * 2
    marks[1] = np.where(np.arange(400) < 3, 1 - marks[0], marks[0])
    options = {"m": {"higher_is_better": "m"}, "correct": {}, "n": {"higher_is_better": "n", "score_range": (0, 1)}}
    options["w"] = {"higher_is_better": "w"}  # in words of verdicts
    verdicts = []
    for name, more in options.items():
        frames = [pd.DataFrame({"id": range(400), name: each}) for each in marks]
        if name == "w":
            frames = [frame.assign(w=np.where(frame["w"] == 1, "passed", "failed")) for frame in frames]
        rule = sigstats.ComparisonRule(margin="5pt", relative_margin=0.1)
        verdicts.append(sigstats.compare(*frames, **{"score": name, **more}, rule=rule).verdict)
    assert verdicts == ["inconclusive", "pass", "pass", "pass"]


@pytest.mark.long
@pytest.mark.parametrize("unit", [1.0, 1e6])
def test_a_verdict_does_not_depend_on_the_unit_of_a_cost(tmp_path, printed, unit):
    """In dollars and in micro-dollars: a cost that quadruples, and one that is cheaper by a tenth."""
    cost = unit * (0.001 + np.arange(4000) / 1e8)
    path = {}
    for name, factor in (("a", 1), ("dearer", 4), ("cheaper", 0.9)):
        path[name] = str(tmp_path / f"{name}.csv")
        pd.DataFrame({"id": range(4000), "cost_usd": factor * cost}).to_csv(path[name], index=False)
    limits = ["--score", "cost_usd", "--score-range", "0", str(0.01 * unit)]
    assert "above +5% of the baseline (" in " ".join(
        printed("compare", path["a"], path["dearer"], *limits[:2], code=1).split()
    )
    assert main(["compare", path["a"], path["cheaper"], *limits, "--fail-on", "inconclusive"]) == 0
    row = sigstats.compare(*(pd.read_csv(path[name]) for name in ("a", "cheaper")), score="cost_usd").rows[0]
    assert (row.relative, row.margin) == (True, pytest.approx(0.05 * cost.mean()))


def test_synonyms_of_measures_are_their_measures():
    same = {
        "sensitivity": "recall", "TPR": "recall", "hit rate": "recall", "ppv": "precision", "tnr": "specificity",
        "selectivity": "specificity", "roc_auc": "auc", "f1_macro": "macro-f1", "macro-sensitivity": "macro-recall",
        "auprc": "average-precision", "average_precision": "average-precision", "r2_score": "r2",
    }  # fmt: skip
    assert {name: in_our_words(name) for name in same} == same
    for name in ("npv", "fpr", "micro-auc"):
        assert in_our_words(name) not in MEASURES
    y, a, b = np.random.default_rng(1).integers(0, 2, (3, 60))
    assert sigstats.compare(y, a, b, measures="sensitivity").rows == sigstats.compare(y, a, b, measures="recall").rows


@pytest.mark.parametrize("name", ["micro-f1", "macro-auc", "g-mean", "npv", "fpr", "macro-f2", "ppr"])
def test_no_hint_names_another_quantity(tmp_path, refused, name):
    table = {"id": range(20), "label": ["yes", "no"] * 10, "prediction": ["yes"] * 20}
    pd.DataFrame(table).to_csv(tmp_path / "a.csv", index=False)
    for command in (["compare", "a.csv", "a.csv"], ["check", "a.csv", "--at-least", "0.8"]):
        given = [str(tmp_path / each) if each == "a.csv" else each for each in command]
        said = refused(*given, "--measure", name, "--positive", "yes")
        assert "did you mean" not in said
        assert ("is the accuracy if every row has one class" in said) == (name == "micro-f1")
    for method in ("hochberg", "hommel"):
        with pytest.raises(ValueError, match=r"is not valid; expected one of holm"):
            sigstats.ComparisonRule(adjust=method)


@pytest.mark.parametrize(("name", "value"), [("f1", 0.3), ("exact_match", 0.3), ("loss", -0.3), ("cost_usd", -0.3)])
@pytest.mark.parametrize("labels", [[0, 1], ["a", "b", "c"]])
def test_beside_labels_a_mark_or_cost_is_no_probability_of_a_class(name, value, labels):
    label = np.resize(labels, 60)
    values = np.random.default_rng(1).random(60)
    base = pd.DataFrame({"id": range(60), "label": label, name: 0.5 + values / 2})
    worse = base.assign(**{name: base[name] - value})
    for beside in ({}, {"prediction": label}):  # scores only, and in addition to predictions
        row = sigstats.compare(base.assign(**beside), worse.assign(**beside), score=name).rows[-1]
        assert row.measure.startswith("mean-score")
        assert (row.verdict, round(row.difference, 6)) == ("fail", -value)


def test_beside_labels_a_column_called_score_is_a_mark_or_a_probability_as_a_person_states():
    base = pd.DataFrame({"id": range(60), "label": [0, 1] * 30, "score": np.arange(60) / 60})
    with pytest.raises(ValueError, match=r"score: 'score' .* expected measures='mean-score' for marks, measures='auc'"):
        sigstats.compare(base, base.assign(score=base["score"] / 2), score="score")
    for measure, verdict in (("mean-score", "fail"), ("auc", "inconclusive")):  # halves rank as before
        result = sigstats.compare(base, base.assign(score=base["score"] / 2), score="score", measures=measure)
        assert (result.rows[0].measure, result.verdict) == (measure, verdict)
    likely = base.rename(columns={"score": "prob"})
    assert sigstats.compare(likely, likely[::-1], score="prob").rows[0].measure == "auc"
