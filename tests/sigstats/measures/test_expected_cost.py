"""The expected cost of predictions, beside scikit-learn's table of counts and under its worst nulls."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.metrics import confusion_matrix

import sigstats
from sigstats.flows.commands import main
from sigstats.measures.costs import as_cost_measure

COSTS = {"cat": {"dog": 2.0, "eel": 5.0}, "dog": {"cat": 1.0, "eel": 7.0, "dog": -0.5}, "eel": {"cat": 3.0, "dog": 4.0}}
TABLE = np.array([[0, 2, 5], [1, -0.5, 7], [3, 4, 0]])


def answers(n: int = 300) -> list[np.ndarray]:
    rng = np.random.default_rng(5)
    return [np.array(["cat", "dog", "eel"])[rng.integers(0, 3, n)] for _ in range(3)]


ENTRIES = [(true, said, TABLE[i, j]) for i, true in enumerate(COSTS) for j, said in enumerate(COSTS)]
CELLS = pl.DataFrame(ENTRIES, schema=["label", "prediction", "cost"], orient="row")


@pytest.mark.parametrize(
    "costs", [COSTS, pd.DataFrame(TABLE, [*COSTS], [*COSTS]), CELLS, CELLS.to_arrow(), CELLS.to_pandas()]
)
def test_mean_cost_is_that_of_the_confusion_matrix(costs: object) -> None:
    y, a, b = answers()
    (row,) = sigstats.compare(y, a, b, costs=costs).rows
    expected = [(confusion_matrix(y, said, labels=[*COSTS]) * TABLE).sum() / len(y) for said in (a, b)]
    assert [row.baseline, row.candidate] == pytest.approx(expected, rel=1e-12)
    assert row.difference == pytest.approx(expected[1] - expected[0], rel=1e-12)
    assert row.lower_is_better
    assert row.low <= row.difference <= row.high
    (checked,) = sigstats.check(y, a, costs=costs, at_most=6).rows
    assert checked.value == pytest.approx(expected[0], rel=1e-12)


@pytest.mark.parametrize("form", [pl.DataFrame, pa.table])
def test_a_table_of_costs_without_labels_of_rows_is_refused(form: object) -> None:
    y, a, b = answers()
    with pytest.raises(ValueError, match=r"^costs \(columns\): \['cat', .* expected label, prediction and cost, since"):
        sigstats.compare(y, a, b, costs=form(dict(zip(COSTS, TABLE.T, strict=True))))


def test_costs_of_a_class_beside_groups_slices_and_other_measures() -> None:
    y, a, b = ((side == "cat").astype(int) for side in answers())
    options = {"slices": {"half": [0, 1] * 150}, "groups": np.repeat(np.arange(60), 5)}
    rows = sigstats.compare(y, a, b, costs={"fn": 10, "fp": 1}, measures="accuracy", **options).rows
    assert [row.measure for row in rows] == ["expected-cost", "accuracy"] * 3
    fn, fp = ((y == 1) & (a == 0)).mean(), ((y == 0) & (a == 1)).mean()
    assert rows[0].baseline == pytest.approx(10 * fn + fp)
    one_against_others = {"positive": "cat", "costs": {"fn": 10, "fp": 1}}
    assert sigstats.compare(*answers(), **one_against_others).rows[0].baseline == pytest.approx(10 * fn + fp)


def test_costs_in_the_name_of_a_measure_are_those_that_are_given() -> None:
    options = {"positive": "cat"}
    (named,) = sigstats.compare(*answers(), measures="expected-cost(fn=10,fp=1)", **options).rows
    (given,) = sigstats.compare(*answers(), costs={"fn": 10, "fp": 1}, **options).rows
    assert (named.baseline, named.low, named.pvalue) == (given.baseline, given.low, given.pvalue)
    with pytest.raises(ValueError, match="costs: 'fn=x' is not valid"):
        sigstats.compare(*answers(), measures="expected-cost(fn=x)", **options)


def test_costs_of_1_are_the_error() -> None:
    y, a, b = answers()
    same = {true: {said: 1 for said in COSTS if said != true} for true in COSTS}
    cost, right = sigstats.compare(y, a, b, costs=same, measures="accuracy").rows
    assert cost.baseline == pytest.approx(1 - right.baseline)
    assert cost.difference == pytest.approx(-right.difference)


@pytest.mark.long
@pytest.mark.parametrize(("rare", "often"), [(0.004, 0.4), (0.02, 0.2)])
@pytest.mark.parametrize("turned", [False, True])
def test_a_rare_dear_error_against_a_frequent_cheap_one(rare: float, often: float, turned: bool) -> None:
    """Equal expected costs: one model errs rarely and dearly, the other often and cheaply."""
    rng, y, dear = np.random.default_rng(1), np.repeat([0, 1], 30), often / rare
    rule = sigstats.ComparisonRule(minimum_effect=0, relative_effect=0)
    failed = covered = 0
    for _ in range(150):
        one, other = (
            np.where((rng.random(60) < rare) & (y == 1), 0, y),
            np.where((rng.random(60) < often) & (y == 0), 1, y),
        )
        pair = (other, one) if turned else (one, other)
        if np.array_equal(*pair):
            covered += 1
            continue
        (row,) = sigstats.compare(y, *pair, costs={"fn": dear, "fp": 1}, rule=rule).rows
        failed += row.verdict == "fail"
        covered += row.low <= 0 <= row.high
    assert failed <= 15  # Binomial(150, .05) exceeds it with a chance of 0.4%
    assert covered >= 135


@pytest.mark.parametrize(
    ("costs", "complaint"),
    [
        ({"cat": {"dog": 1}, "dog": {"cat": 1}}, "costs: the cost of predicting 'eel' for 'cat' is missing; add it"),
        ({"cat": 3}, "costs: "),
        ({}, "costs: "),
        ({"cat": {"dog": 0.0}}, "a wrong prediction that costs more or less"),
        ({"cat": {"dog": "x"}}, r"costs\['cat'\]\['dog'\]: 'x'"),
        ({1: {2: 3}, "1": {2: 4}}, "costs: '2' predicted for '1' appears more than once"),
        ({"fn": 10, "fp": 1}, "positive: "),
        ({"cat": {"dog": -3.0}}, "expected at least the cost of a right prediction, 0"),
    ],
)
def test_bad_costs_are_refused(costs: object, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        sigstats.compare(*answers(), costs=costs)


def test_costs_in_a_file_or_in_words(tmp_path, capsys, refused) -> None:
    y, a, b = (np.where(side == "cat", "yes", "no") for side in answers())
    for name, said in (("a", a), ("b", b)):
        pd.DataFrame({"id": range(300), "label": y, "prediction": said}).to_csv(tmp_path / f"{name}.csv", index=False)
    (tmp_path / "costs.csv").write_text("label,prediction,cost\nyes,no,10\nno,yes,1\n")
    files, outputs = [str(tmp_path / f"{name}.csv") for name in "ab"], []
    (tmp_path / "costs.json").write_text('{"yes": {"no": 10},\n "no": {"yes": 1}}')
    for costs in (*(str(tmp_path / f"costs.{kind}") for kind in ("csv", "json")), "fn=10,fp=1"):
        for command in (["compare", *files], ["rank", *files], ["check", files[0], "--at-most", "2"]):
            assert main([*command, "--measure", costs]) in (0, 1)
            outputs.append(capsys.readouterr().out)
    assert outputs[:3] == outputs[3:6] == outputs[6:]
    assert all("expected-cost" in output for output in outputs)
    assert "--measure: {'fn': 10.0} is not valid" in refused("compare", *files, "--measure", "fn=10")
    assert "are given; expected one of them" in refused(
        "compare", *files, *["--measure", "fn=1,fp=1", "--measure", costs]
    )
    assert refused("compare", *files, "--measure", "none.csv").startswith("sigstats: --measure: none.csv: there is no")
    for odd in ("s3://bucket/costs", "costs/", "/costs", " /costs", "a/b/c", ""):
        message = (
            f"sigstats: --measure: '{odd}' is not valid; expected a measure, MODULE:FUNCTION of your own, ratio A/B"
        )
        assert refused("compare", *files, "--measure", odd).startswith(message)
    assert main(["compare", *files, "--measure", "accuracy", "--measure", costs, "--json", "-"]) in (0, 1)
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [row["measure"] for row in rows] == ["expected-cost", "accuracy"]
    for twice in ("fn=10,fn=1,fp=1", '{"yes": {"no": 10, "no": 1}, "no": {"yes": 1}}'):
        assert "expected each cost once" in refused("compare", *files, "--measure", twice)
    (tmp_path / "costs.csv").write_text("label,prediction,cost\nyes,no,10\nyes,no,1\n")
    assert "'no' predicted for 'yes' appears more than once" in refused(
        "compare", *files, "--measure", tmp_path / "costs.csv"
    )


def test_costs_may_be_a_frame_of_cells_as_in_a_file() -> None:
    cells = pd.DataFrame({"label": ["yes", "no"], "prediction": ["no", "yes"], "cost": [10, 1]})
    of_yes = {"yes": {"no": 10}, "no": {"yes": 1}}
    rows = ["yes", "no"] * 9, ["no", "no"] * 9, ["yes", "yes"] * 9
    assert sigstats.compare(*rows, costs=cells).rows == sigstats.compare(*rows, costs=of_yes).rows


def test_a_measure_survives_a_copy_of_its_name() -> None:
    measure = as_cost_measure({"fn": 10, "fp": 1})
    assert str(measure) == "expected-cost"
    assert not measure.spec.greater_is_better


@pytest.mark.parametrize(("index", "columns"), [("prediction", "label"), ("y_pred", None), (None, "true class")])
def test_a_table_of_costs_whose_axes_are_named_the_other_way_round_is_refused(index, columns) -> None:
    table = pd.DataFrame([[0, 1], [10, 0]])
    named = table.rename_axis(index="label", columns="prediction")
    assert sigstats.compare([0, 1] * 9, [0, 0] * 9, [1, 1] * 9, costs=named).rows[0].baseline == 5
    with pytest.raises(
        ValueError, match="expected the true classes as the index and the predicted ones as the columns"
    ):
        sigstats.compare([0, 1] * 9, [0, 0] * 9, [1, 1] * 9, costs=table.rename_axis(index=index, columns=columns))
