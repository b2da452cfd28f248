"""What a person cannot have meant is refused: another scale, another direction, another spelling of a class."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import sigstats
from sigstats._common.messages import shown
from sigstats._common.scores import unlike_units
from sigstats.comparison.measure_names import reversed_scores
from sigstats.comparison.paired_predictions import Labels, PairedPredictions, Scored
from sigstats.comparison.units import Units
from sigstats.files.predictions import Columns, read
from sigstats.files.predictions._files import parse
from sigstats.flows.commands import main
from tests.sigstats.files.predictions.logs import harness_log, inspect_log

RNG = np.random.default_rng(20)
FRACTIONS = RNG.integers(0, 21, 200) / 20


def marks(values):
    return pd.DataFrame({"id": range(len(values)), "f1": values})


@pytest.mark.parametrize(("first", "second"), [(1, 100), (100, 1)])
def test_fractions_beside_percentages_are_refused(first, second):
    frames = marks(FRACTIONS * first), marks(FRACTIONS[::-1] * second)
    with pytest.raises(ValueError, match=r"^scores: .* look like two units; expected one unit"):
        sigstats.compare(*frames, score="f1")
    with pytest.raises(ValueError, match="look like two units"):
        sigstats.rank_models(np.column_stack([FRACTIONS * first, FRACTIONS * first, FRACTIONS * second]))
    with pytest.raises(ValueError, match="look like two units"):
        sigstats.compare(
            marks(np.sign(FRACTIONS)), marks(RNG.integers(0, 11, 200)), score="f1"
        )  # right or wrong; 0 to 10
    declared = sigstats.compare(*frames, score="f1", score_range=(0, 100))
    assert declared.rows[0].difference == pytest.approx((FRACTIONS * second).mean() - (FRACTIONS * first).mean())


@pytest.mark.parametrize(
    "shares",
    [RNG.beta(5, 2, 300), RNG.beta(2, 2, 300).round(2), RNG.integers(0, 11, 300) / 10, (RNG.random(300) < 0.7) * 1.0],
)
def test_fractions_among_percentages_are_refused(tmp_path, refused, shares):
    mixed = np.where(RNG.random(300) < 0.4, 100 * shares, shares)
    with pytest.raises(ValueError, match=r"^scores: \d+ of 'candidate' up to .* and \d+ up to .* look like two units"):
        sigstats.compare(marks(100 * shares), marks(mixed), score="f1")
    for path in ("a.csv", "b.csv"):
        marks(mixed).assign(other=path).to_csv(tmp_path / path, index=False)
    files = [str(tmp_path / path) for path in ("a.csv", "b.csv")]
    commands = (["compare", *files], ["rank", *files], ["check", files[0], "--at-least", "50"])
    for command in commands:
        assert "look like two units; expected" in refused(*command, "--score", "f1")
    assert sigstats.rank_models(np.column_stack([mixed, shares]), score_range=(0, 100)).models
    assert sigstats.compare(marks(mixed), marks(shares), score="f1", score_range=(0, 100)).rows


@pytest.mark.parametrize(
    "scores",
    [
        np.where(RNG.random(300) < 0.6, RNG.integers(0, 2, 300), RNG.integers(0, 101, 300)),  # often 0 or 1
        100 * RNG.beta(0.3, 1, 300),
        np.minimum(RNG.lognormal(0, 1.5, 300), 100),
        10 ** RNG.uniform(-4, 2, 300),
        RNG.integers(0, 41, 300) / 2,
        (RNG.integers(0, 31, 300) / 3).round(3),
    ],
)
def test_percentages_below_one_are_no_fractions(scores):
    unlike_units([scores, scores[::-1]], "ab", wanted="one unit")
    with pytest.raises(ValueError, match="look like two units"):
        unlike_units([FRACTIONS, np.where(scores < 1, 1, scores.clip(0, 100))], "ab", wanted="one unit")


@pytest.mark.parametrize("factor", [1, 100, 7])
def test_scores_in_one_unit_are_compared_whatever_it_is(factor):
    row = sigstats.compare(marks(FRACTIONS * factor), marks(FRACTIONS[::-1] * factor), score="f1").rows[0]
    assert row.difference == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(
    ("scores", "costs", "noted"),
    [
        ([[1, 1, 1], [5, 60, 100]], False, True),  # the lowest mark of a scale from 1
        ([[0, 0, 0], [0, 100, 100]], False, False),
        ([[0.2, 0.9, 0.4], [1.5, 3.0, 9.0]], False, True),  # shares, or ratios
        ([[0.2, 0.9, 0.4], [1.5, 3.0, 9.0]], True, False),
        ([[0, 1, 1], [0, 1, 40]], True, True),  # right or wrong, or counts
        ([[0, 1, 0], [0, 1, 2]], True, False),
        ([[0, 1, 1], [1, 1, 80]], False, True),
        ([[0.5, 0.7, 1.0], [-3, 40, 90]], False, True),
        ([[0.5, 0.7, 1.0], [300, 400, 900]], False, True),
        ([[812, 950, 999], [1.25, 1.031, 1.4]], True, True),  # 1.250 with a point between thousands
        ([[0.8, 1.1, 2.0], [790, 1200, 1900]], True, True),  # seconds and milliseconds
        ([[0.8, 1.1, 2.0], [8, 11, 20]], True, False),
    ],
)
def test_other_scores_that_may_be_in_two_units_are_noted(scores, costs, noted):
    for each in (scores, scores[::-1]):
        sides = [np.asarray(one, dtype=float) for one in each]
        notes = unlike_units(sides, "ab", wanted="one unit", costs=costs)
        assert [note.name for note in notes] == ["unlike-units"] * noted


@pytest.mark.parametrize(
    ("law", "costs"),
    [
        (lambda rng, k, n: rng.lognormal(k, 1, n), True),  # ratios of means of up to 20
        (lambda rng, k, n: rng.normal(0, 1 + k, n) ** 2, True),
        (lambda rng, k, n: -np.log(rng.beta(2 + 10 * k, 1, n)), True),
        (lambda rng, k, n: rng.poisson(0.05 + k / 10, n), True),
        (lambda rng, k, n: rng.normal(0, 1 + k, n), False),
    ],
)
def test_natural_scores_are_rarely_noted_as_in_two_units(law, costs):
    rng = np.random.default_rng(3)
    sides = [[law(rng, k, 100).astype(float) for k in (0, 3)] for _ in range(500)]
    assert sum(bool(unlike_units(pair, "ab", wanted="one unit", costs=costs)) for pair in sides) <= 5


@pytest.mark.long
def test_two_units_are_noted_wherever_scores_are_compared(tmp_path, answer):
    times = RNG.lognormal(0, 0.3, (3, 60)) * [[1], [1], [1000]]
    columns = {name: {"id": range(60), "latency": value, "one": 1} for name, value in zip("abc", times, strict=True)}
    a, b, c = (str(tmp_path / f"{name}.csv") for name in columns)
    for name, columns_ in columns.items():
        pd.DataFrame(columns_).to_csv(tmp_path / f"{name}.csv", index=False)
    score = ["--score", "latency"]
    for command in (
        ["compare", a, c, *score],
        ["check", a, "--at-most", "2000", *score],
        ["check", c, "--at-most", "2", *score],
        ["rank", a, b, c, *score],
        ["rank", a, b, c, *score, "--measure", "p90"],
        ["compare", a, c, "--measure", "latency/one"],
    ):
        found = answer(*command)
        assert "scores may be in two units: median without zeros" in str(found), command
        assert "unlike-units" in str(found)
    same = sigstats.compare(*(pd.read_csv(path) for path in (a, b)), score="latency")
    assert "unlike-units" not in [note.name for note in same.notes]
    y, near = RNG.normal(50, 9, (2, 60))
    limited = sigstats.compare(y, near, near / 1000, measures="neg-mae", score_range=(0, 1e6)).notes
    assert "unlike-units" in [note.name for note in limited]
    (note,) = sigstats.compare(y, near, near / 1000, measures="neg-mae").notes[:1]
    assert note.name == "unlike-units"


RIGHT = (np.arange(300) % 5 > 0) * 1.0
ABOUT = 0.7 + np.arange(300) % 3 / 10


@pytest.mark.parametrize(
    ("name", "first", "second", "told"),
    [
        ("correct", RIGHT, 2 * RIGHT - 1, "0 and 1 of .* and -1 and 1 of .* look like two units"),
        ("reward", RIGHT + 1, RIGHT, "1 and 2 of .* and 0 and 1 of .* look like two units"),
        (
            "f1",
            RIGHT * 0.7,
            np.where(RIGHT, ABOUT, -1),
            "60 of 300 for .* are -1 and all others 0 to 0.9; leave",
        ),
        ("kappa", RIGHT * 0.7, np.where(RIGHT, -ABOUT, -9), "60 of 300 for .* are -9 and all others -0.9 to 0.7"),
        ("reward", RIGHT * 4, np.where(RIGHT, ABOUT, 999), "60 of 300 for .* are 999 and all others 0 to 4"),
    ],
)
def test_marks_in_two_codes_and_codes_of_no_mark_are_refused(tmp_path, capsys, answer, name, first, second, told):
    paths = [str(tmp_path / path) for path in ("a.csv", "b.csv")]
    for path, values in zip(paths, (first, second), strict=True):
        marks(values).rename(columns={"f1": name}).to_csv(path, index=False)
    for command in ("compare", "rank"):
        assert main([command, *paths, "--score", name]) == 2
        assert re.search(told, capsys.readouterr().err)
    assert main(["compare", *paths, "--score", name, "--score-range", "-999", "999"]) in (0, 1)
    if "all others" in told:
        assert main(["check", paths[1], "--score", name, "--at-least", "0.3"]) == 2
        code = re.search("are (-?[0-9]+)", capsys.readouterr().err)[1]
        left = answer("compare", *paths, "--score", name, "--missing", code, "--unscored", "drop")
        assert left["rows"][0]["n"] == 240


def test_a_code_of_no_mark_among_costs_is_named_with_the_question_of_their_direction(tmp_path, capsys):
    paths = [str(tmp_path / path) for path in ("a.csv", "b.csv")]
    latency = 20.0 + np.arange(300)
    for path, values in zip(paths, (latency, np.where(RIGHT, latency, -1)), strict=True):
        marks(values).rename(columns={"f1": "latency_ms"}).to_csv(path, index=False)
    for command, model in ((["compare", *paths], "candidate"), (["check", paths[1], "--at-most", "300"], "the model")):
        assert main([*command, "--score", "latency_ms"]) == 2
        assert re.search(f"60 of 300 for {model} are -1 .*Is a higher 'latency_ms' better", capsys.readouterr().err)
    assert main(["check", paths[1], "--at-most", "300", "--lower-is-better", "latency_ms"]) in (0, 1)
    assert capsys.readouterr().out.count("are -1 and all others") == 1


@pytest.mark.parametrize(
    ("values", "limits", "notes"),
    [
        (np.where(RIGHT, 0.7 + np.arange(300) / 1e3, -1), None, ["missing-code"]),
        (np.where(RIGHT, np.arange(300) % 6, 9), None, ["missing-code"]),
        (np.where(RIGHT, 1 + np.arange(300) % 4, 7), None, ["missing-code"]),
        (np.where(RIGHT, 1 + np.arange(300) % 5, 88), None, ["missing-code"]),
        (np.where(RIGHT, np.arange(300) % 11, 77 + 11 * (np.arange(300) % 2)), None, ["missing-code"]),
        (np.where(RIGHT, 1 + np.arange(300) % 5, 8 + np.arange(300) % 2), None, ["missing-code"]),
        (np.where(RIGHT, np.arange(300) % 4, 7), None, []),  # counts
        (np.where(RIGHT, 50 + np.arange(300) % 30, 88), None, []),
        (1 + np.arange(300) % 7, None, []),
        (7 + np.arange(300) % 90, None, []),  # the smallest one is not a code
        (2 * RIGHT - 1, (0, 1), ["outside-limits"] * 2),
        (100 * RIGHT - RIGHT * (np.arange(300) % 2), (0, 1), ["outside-limits"] * 2),
        (2 * RIGHT - 1, None, []),
        (np.arange(300) % 3 - 1, None, []),
        (np.arange(300) % 4 - 1, None, []),
        (np.arange(300) % 10, None, []),
        (np.arange(300) % 2 - np.arange(300) % 3 / 2, (-1, 1), []),
    ],
)
def test_marks_beyond_limits_and_possible_codes_of_no_mark_are_noted(values, limits, notes):
    sides = [np.asarray(values, dtype=float), np.roll(values, 7) * 1.0]
    assert [note.name for note in unlike_units(sides, "ab", wanted="one unit", limits=limits)] == notes


@pytest.mark.parametrize("scores", [RIGHT * 1.0, np.where(RIGHT, 0.7, 0.2)])
def test_minus_one_in_one_model_is_no_mark_where_all_others_are_from_0_to_1(scores):
    coded = np.where(np.arange(300) % 9, scores, -1.0)
    told = "34 of 300 for b are -1 and all others 0.*if they mean no score; expected"
    with pytest.raises(ValueError, match=told):
        sigstats.rank_models(pd.DataFrame({"a": scores, "b": coded}))
    frames = [pd.DataFrame({"id": range(300), "reward": side}) for side in (scores, coded)]
    with pytest.raises(ValueError, match=told.replace(" b ", " candidate ")):
        sigstats.compare(*frames, score="reward", higher_is_better="reward")
    assert sigstats.rank_models(np.column_stack([scores, coded]), score_range=(-1, 1)).n == 300
    assert sigstats.rank_models(np.column_stack([coded, coded[::-1]])).n == 300  # a mark of both models


@pytest.mark.parametrize(
    "scores",
    [
        RNG.lognormal(sigma=1.5, size=5000),  # costs
        np.r_[np.zeros(999), 1],  # rare violations
        np.r_[np.zeros(900), np.full(100, 1e6)],  # more than a few
        RNG.standard_cauchy(19),
    ],
)
def test_scores_of_long_tails_are_not_wild(scores):
    unlike_units([scores, scores[::-1]], "ab", wanted="one unit")


@pytest.mark.long
@pytest.mark.parametrize("name", ["loss", "val_loss", "perplexity", "WER", "error_rate"])
def test_costs_are_worse_the_higher_they_are(tmp_path, name):
    """As marks of the other sign, with the sign of the costs."""
    other = np.minimum(FRACTIONS + 0.1 * (np.arange(200) % 2), 1)
    paths = [str(tmp_path / each) for each in ("a.csv", "b.csv")]
    for path, values in zip(paths, (FRACTIONS, other), strict=True):
        marks(values).rename(columns={"f1": name}).to_csv(path, index=False)
    assert main(["compare", *paths, "--score", name]) == 1
    tables = [pd.read_csv(path) for path in paths]
    (cost,) = sigstats.compare(*tables, score=name, score_range=(0, 1)).rows
    (turned,) = sigstats.compare(
        *(table.assign(**{f"neg_{name}": -table[name]}) for table in tables),
        higher_is_better=f"neg_{name}",
        score_range=(-1, 0),
        rule=sigstats.ComparisonRule(minimum_effect=0),
    ).rows
    assert (cost.pvalue, cost.verdict, cost.lower_is_better) == (turned.pvalue, "fail", True)
    assert (cost.difference, cost.low, cost.high) == pytest.approx((-turned.difference, -turned.high, -turned.low))
    assert (cost.baseline, cost.candidate) == pytest.approx((FRACTIONS.mean(), other.mean()))
    log = inspect_log(tmp_path / "a.eval", [(n, 1, {"match": 1, name: value}) for n, value in enumerate(FRACTIONS)])
    assert read(log, Columns(score=name)).score.lower
    assert parse(log, Columns()).scores(Columns()) == (("match", name), ())


def test_a_loss_may_rank_the_rows_of_a_class():
    """The area under the curve asks which rows have the larger scores, whatever these are; a mean of them does not."""
    table = marks(FRACTIONS).rename(columns={"f1": "loss"}).assign(label=[0, 1] * 100)
    assert sigstats.compare(table, table, score="loss", measures="auc").rows[0].measure == "auc"
    (row,) = sigstats.compare(table, table, score="loss", measures=["mean-score"]).rows
    assert row.lower_is_better


@pytest.mark.long
def test_a_schedule_refuses_other_names_where_no_measure_is_named(tmp_path, capsys):
    table = pd.DataFrame({"id": range(200), "label": NAMES[TRUE], "prediction": NAMES[GUESS]})
    table.to_csv(tmp_path / "a.csv", index=False)
    table.replace({"prediction": {"dog": "Dog"}}).to_csv(tmp_path / "b.csv", index=False)
    study = {"kind": "regression", "baseline": str(tmp_path / "a.csv"), "candidate": str(tmp_path / "b.csv")}
    path = tmp_path / "study.toml"
    for more, code in (("", 2), ('measures = ["accuracy"]', 1)):
        path.write_text("\n".join([*(f"{name} = {json.dumps(value)}" for name, value in study.items()), more]))
        assert main(["run", str(path), "--output", str(tmp_path / f"out{code}")]) == code
    assert "'Dog' of the candidate is another spelling of the label 'dog'" in capsys.readouterr().err


NAMES = np.array(["cat|dog", "dog", "bird"])
TRUE = RNG.integers(0, 3, 200)
GUESS = np.where(RNG.random(200) < 0.8, TRUE, RNG.integers(0, 3, 200))


@pytest.mark.parametrize(
    ("label", "said", "complaint"),
    [
        (NAMES[TRUE], np.where(TRUE == GUESS, NAMES[GUESS], "Bird"), "'Bird' of the candidate is another spelling"),
        (NAMES[TRUE], np.where(TRUE == GUESS, NAMES[GUESS], "dog "), "'dog ' of the candidate is another spelling"),
        (NAMES[TRUE], np.where(TRUE == GUESS, NAMES[GUESS], "dog|cat"), "another spelling of the label 'cat|dog'"),
        (NAMES[TRUE], np.where(TRUE == GUESS, NAMES[GUESS], "dog + cat"), "another spelling of the label 'cat|dog'"),
        (NAMES[TRUE], np.where(TRUE == GUESS, NAMES[GUESS], "(bird)."), "another spelling of the label 'bird'"),
        (TRUE, GUESS + 1, "classes '1', '2', '3' of the candidate are not those of the labels, '0', '1', '2'"),
        (np.where(TRUE, 1, -1), np.where(GUESS, 1, 0), "classes '0', '1' of the candidate"),
        (TRUE % 2, np.round(GUESS / 7 + 0.05, 2), "'0.34' of the candidate are not valid"),
        (TRUE % 2, np.where(GUESS, 1, 0.25), "'0.25' of the candidate is not a class of the labels: '0', '1'"),
        (NAMES[TRUE], np.array([str(each / 400) for each in range(200)]), "'0.0025' of the candidate is not a class"),
    ],
)
def test_classes_under_other_names_are_no_errors(tmp_path, capsys, label, said, complaint):
    right = label.copy()
    right[:5] = right[5:10]
    with pytest.raises(ValueError, match=r"^prediction: ") as caught:
        sigstats.compare(label, right, said)
    assert complaint in str(caught.value)
    with pytest.raises(ValueError, match=r"^prediction: ") as caught:
        sigstats.rank_models(np.column_stack([right, said]), label=label, models=["m", "n"])
    assert complaint.replace("the candidate", "'n'") in str(caught.value)
    for name, predicted in (("a", right), ("b", said)):
        table = pd.DataFrame({"id": range(200), "label": label, "prediction": predicted})
        table.to_parquet(tmp_path / name)
    assert main(["rank", str(tmp_path / "a"), str(tmp_path / "b")]) in ((0, 2) if "dog " in complaint else (2,))
    if " are not valid" not in complaint:  # none of which is a class
        found = sigstats.compare(label, right, said, measures=["accuracy"])
        assert found.rows[0].candidate == pytest.approx(np.mean(label == said))


@pytest.mark.parametrize(
    ("label", "said"),
    [
        (NAMES[TRUE], np.where(TRUE == GUESS, NAMES[GUESS], "I cannot say")),
        (TRUE, np.where(TRUE == GUESS, GUESS, 7)),
        (TRUE % 2, np.ones(200, dtype=int)),
        (NAMES[TRUE], np.where(TRUE == GUESS, NAMES[GUESS], "unsure")),
        (NAMES[TRUE], np.full(200, "unsure")),
        ([f"answer {n}" for n in range(200)], [f"Answer {n}" if n < 9 else f"answer {n}" for n in range(200)]),
    ],
)
def test_other_answers_are_errors(label, said):
    found = sigstats.compare(label, label, said)
    strange = sorted({str(each) for each in said} - {str(each) for each in label})
    assert [note.name for note in found.notes].count("class-without-rows") == bool(strange)
    assert not strange or f"candidate: predictions of classes that no row has: {strange[0]!r} (" in found.notes[0]
    assert found.rows[0].candidate == pytest.approx(np.mean(np.asarray(label) == np.asarray(said)))


def test_series_of_the_same_rows_in_another_order_are_refused():
    y, a = pd.Series(TRUE, index=range(1000, 1200)), pd.Series(GUESS, index=range(1000, 1200))
    shuffled = a.sample(frac=1, random_state=1)
    for arguments, options in (
        ((y, a, shuffled), {}),
        ((y, a, a), {"slices": {"half": shuffled}}),
        ((y, a, a), {"scores": (a, shuffled), "measures": ["mean-score"]}),
    ):
        with pytest.raises(ValueError, match="expected the index of y, in its order"):
            sigstats.compare(*arguments, **options)
    with pytest.raises(ValueError, match="an array is taken as it is"):
        sigstats.compare(y, a, pd.Series(GUESS))
    of_classes = pd.DataFrame(RNG.dirichlet(np.ones(3), 200), index=y.index)
    mixed, cost = of_classes.sample(frac=1, random_state=1), pd.DataFrame({"a": a, "b": a})
    for call in (
        lambda: sigstats.check(y, mixed, at_least=0.5),
        lambda: sigstats.compare(y, of_classes, mixed),
        lambda: sigstats.compare(y, a, a, scores=(of_classes, mixed), measures=["neg-log-loss"]),
        lambda: sigstats.calibration_test(y, mixed),
        lambda: sigstats.calibration_test(y > 1, of_classes[0].loc[shuffled.index]),
        lambda: sigstats.rank_models({"a": of_classes, "b": mixed}, label=y),
        lambda: sigstats.rank_models(cost > 1, cost=cost.loc[shuffled.index]),
    ):
        with pytest.raises(ValueError, match=r"\(index\): .* expected the index of (y|label|correct), in its order"):
            call()
    assert sigstats.compare(y, a, shuffled.to_numpy()).n == 200


def test_masked_values_are_missing_in_slices_and_groups_too():
    values = np.where(np.arange(200) % 4 == 0, 1, np.arange(200) % 10)
    masked, absent = (
        np.ma.array(values, mask=np.arange(200) % 4 == 0),
        [None if k % 4 == 0 else k % 10 for k in range(200)],
    )
    found, wanted = (sigstats.compare(TRUE, GUESS, GUESS[::-1], slices={"s": part}) for part in (masked, absent))
    assert [(row.slice, row.n, row.pvalue) for row in found.rows] == [(r.slice, r.n, r.pvalue) for r in wanted.rows]
    for name in ("groups", "order"):
        with pytest.raises(ValueError, match=rf"^{name}: row 0 \(from 0\) is empty; expected a value"):
            sigstats.compare(TRUE, GUESS, GUESS[::-1], **{name: masked})


@pytest.mark.long
@pytest.mark.parametrize("classes", [50, 5000])
@pytest.mark.parametrize("form", ["{}.00", "0{}", "+{}", "{:,}", "{:_}"])
def test_numbers_in_another_form_are_refused_whatever_the_number_of_classes(classes, form):
    codes = np.resize(np.arange(1001, 1001 + classes), 200 if classes == 50 else 8000)
    y = codes.astype(str)
    said = np.array([form.format(code) if row % 2 else str(code) for row, code in enumerate(codes.tolist())])
    told = rf"'{re.escape(form.format(1002))}' of the (candidate|model) is another spelling of the label '1002'"
    with pytest.raises(ValueError, match=told):
        sigstats.compare(y, y, said)
    with pytest.raises(ValueError, match=told):
        sigstats.check(y, said, at_least=0.5)
    with pytest.raises(ValueError, match="is another spelling of the label '1002'"):
        sigstats.rank_models({"a": y, "b": said}, label=y)
    assert sigstats.compare(y, y, said, measures="accuracy").rows[0].candidate == 0.5


def test_answers_in_free_text_may_have_any_form():
    words = np.array([f"The answer is {number}" for number in range(200)])
    said = np.char.add(words, np.where(np.arange(200) % 2, ".", ""))
    assert sigstats.check(words, said, at_least=0.4).rows[0].value == 0.5
    numbers, others = np.arange(200).astype(str), np.where(np.arange(200) % 2, "I do not know", np.arange(200) + 0.5)
    assert sigstats.check(numbers, others, at_least=0.4).rows[0].value == 0


@pytest.mark.parametrize("other", [{0: -1, 1: 1}, {0: 1, 1: 2}, {0: "no", 1: "yes"}, {0: "Cat", 1: "Dog"}])
def test_other_names_of_the_classes_are_refused_where_labels_are_counted(other):
    words = isinstance(other[0], str)
    y = np.array(["cat", "dog"])[TRUE % 2] if words else TRUE % 2
    a = np.where(RNG.random(200) < 0.9, y, y[::-1])
    b = np.array([other[code] for code in (TRUE % 2).tolist()])
    told = "not valid; expected classes|not those of the labels|another spelling of the label"
    tests = sigstats.mcnemar_test, sigstats.accuracy_difference, sigstats.pair_probability
    for called in (sigstats.discordant_counts, *(test.from_predictions for test in tests)):
        with pytest.raises(ValueError, match=told):
            called(y, a, b)
    with pytest.raises(ValueError, match=told):
        sigstats.efficiency_test.from_predictions(y, b)


@pytest.mark.parametrize(
    ("spellings", "told"),
    [
        ({"no": "No", "yes": "Yes"}, "'No' and 'no' are two classes of the labels, but the candidate never"),
        ({"no": "no.", "yes": "yes."}, "'no' and 'no.' are two classes of the labels, but the candidate never"),
        ({"0": "False", "1": "True"}, "'0' and 'False' are two classes of the labels, but the candidate never"),
        ({"0": "0.0", "1": "1.0"}, "label: '0' and '0.0' are taken as two; write them alike if they are one class"),
    ],
)
def test_labels_of_two_annotators_who_spell_a_class_in_two_ways_are_refused(spellings, told):
    """A model that writes one spelling would count as wrong in half of the rows; one that writes both knows two."""
    one = np.array([*spellings])[np.arange(200) % 3 % 2]
    label = np.where(np.arange(len(one)) % 4 < 2, one, np.vectorize(spellings.get)(one))
    with pytest.raises(ValueError, match=re.escape(told)):
        sigstats.compare(label, label, one)
    with pytest.raises(ValueError, match=re.escape(told.partition(", but")[0])):
        sigstats.check(label, one, at_least=0.1)
    if "never" in told:
        (note,) = [note for note in sigstats.compare(label, label, label[::-1]).notes if note.name == "spelled-twice"]
        assert "are taken as two" in note


@pytest.mark.parametrize(
    ("one", "other", "told"),
    [
        ("cat dog", "dog cat", "'cat dog' and 'dog cat' are taken as two classes"),
        ("cat/dog", "Dog/cat", "'Dog/cat' and 'cat/dog' are taken as two classes"),
        ("0|2|-1", "1|-1|-1", "-1 in '0|2|-1' may be padding"),
        ("[1, -1]", "[1, 2]", "-1 in '[1, -1]' may be padding"),
        ("(0,-1)", "(-1,1)", ""),  # steps
        ("1 2", "2 1", ""),
        ("1/2", "2/1", ""),
        ("cat dog", "cat dogs", ""),
        ("is this the first one", "this is the first one", ""),
    ],
)
def test_sets_in_two_orders_and_padded_lists_are_noted(one, other, told):
    label = np.array([one, "bird"])[np.arange(200) % 2]
    said = np.where(np.arange(200) % 5 == 0, other, label)
    notes = [str(note) for note in sigstats.compare(label, said, said[::-1]).notes]
    assert [note for note in notes if "taken as two" in note or "padding" in note] == [
        note for note in notes if told and note.startswith(told)
    ]
    assert any(note.startswith(told) for note in notes)
    texts = np.array([f"{text} {n}" for n, text in enumerate(label)])  # free texts
    assert not [note for note in sigstats.compare(texts, texts, texts[::-1]).notes if "taken as two" in note]


@pytest.mark.parametrize(
    ("label", "said", "refused"),
    [
        ("{}", "Answer: {}", True),
        ("{}_true", "{}_pred", True),
        ("the {}", "{}.", True),
        ("{}", "{0} {0}", False),
    ],
)
def test_texts_that_differ_from_all_labels_only_at_their_ends_are_refused(label, said, refused):
    words = [f"{chr(97 + n % 26)}{n}x{chr(97 + n * 7 % 26)}" for n in range(200)]
    labels, answers = (np.array([form.format(word) for word in words]) for form in (label, said))
    answers[::3] = said.format("none")
    for predicted in (answers, np.where(np.arange(200) == 1, labels, answers)):
        if refused and predicted is answers:
            with pytest.raises(ValueError, match="only in a prefix or suffix, and no prediction equals a label"):
                sigstats.check(labels, predicted, at_least=0.1)
        else:
            assert sigstats.check(labels, predicted, at_least=0.1).verdict


def test_slices_of_two_spellings_are_refused():
    region = ["north", "south "] * 50 + ["north", "south"] * 50
    complaint = "region: 'south ' and 'south' look alike; expected one spelling of each slice"
    with pytest.raises(ValueError, match=complaint):
        sigstats.compare(TRUE, GUESS, GUESS[::-1], slices={"region": region})
    with pytest.raises(ValueError, match=complaint):
        sigstats.assert_at_least(TRUE, GUESS, at_least=0.5, slices={"region": region})


def test_names_that_differ_in_case_are_noted_wherever_they_are_read(tmp_path, answer):
    """They may be natural, as letters are, or two spellings of one."""
    frame = pd.DataFrame({"id": range(200), "label": TRUE, "prediction": GUESS, "part": ["EN", "en", "De", "fr"] * 50})
    letters = frame.replace({"label": {1: "yes", 0: "Yes"}, "prediction": {1: "yes", 0: "Yes"}})
    a, b, c = (str(tmp_path / name) for name in ("a.csv", "b.csv", "c.csv"))
    for table, path in ((frame, a), (frame.assign(x=1), b), (letters, c)):
        table.to_csv(path, index=False)
    commands = [["compare", a, b], ["check", a, "--at-least", "0.1"], ["rank", a, b]]
    parts = ["--slice=part", "--group=part", "--task=part"]
    for command in [[*start, part] for start in commands for part in parts] + [["check", c, "--at-least", "0.1"]]:
        (told,) = [note["text"] for note in answer(*command)["notes"] if note["name"] == "spelled-twice"]
        assert told.endswith("are taken as two; write them alike if they are one " + told.split()[-1]), command
    for numbers in (["01", "1"] * 100, ["1.0", "1"] * 100):
        with pytest.raises(
            ValueError, match=r"groups: '.*' and '.*' are taken as two; write them alike if they are one group"
        ):
            sigstats.compare(TRUE, GUESS, GUESS[::-1], groups=numbers)
    for options in ({"groups": frame["part"]}, {"slices": {"part": frame["part"]}}):
        found = (
            sigstats.compare(TRUE, GUESS, GUESS[::-1], **options),
            sigstats.rank_models(np.column_stack([TRUE == GUESS, TRUE == 1]), **options),
        )
        assert ["spelled-twice" in [note.name for note in result.notes] for result in found] == [True, True]


def test_groups_of_two_spellings_and_numbers_with_points_between_thousands_are_refused(tmp_path):
    group = [f"p{n // 4}" + " " * (n % 2) for n in range(200)]
    amounts = [f"{n:,}".replace(",", ".") for n in range(900, 1100)]
    frame = pd.DataFrame({"id": range(200), "label": TRUE, "prediction": GUESS, "g": group, "a": amounts})
    frame.to_parquet(path := str(tmp_path / "a.parquet"))
    frame.assign(x=1).to_parquet(other := str(tmp_path / "b.parquet"))
    for arguments, options in (((frame, frame), {"groups": "g"}), ((TRUE, GUESS, GUESS), {"groups": group})):
        with pytest.raises(ValueError, match="'p0 ' and 'p0' look alike; expected one spelling of each group"):
            sigstats.compare(*arguments, **options)
    for option, code in (("--group=g", 2), ("--weights=a", 2), ("--slice=a=3", 2), ("--order=a", 2), ("--task=g", 2)):
        assert main(["compare", path, other, option]) == code


@pytest.mark.parametrize("column", ["id", "label", "g"])
def test_numbers_that_floats_may_have_rounded_are_no_names(tmp_path, column):
    frame = pd.DataFrame({"id": range(200), "label": TRUE, "prediction": GUESS, "g": np.arange(200) // 4})
    frame[column] = (frame[column] + 10**16).astype(float)
    frame.to_parquet(path := str(tmp_path / "a.parquet"))
    options = ["--group", "g"] if column == "g" else []
    assert main(["compare", path, path, *options]) == 2
    with pytest.raises(ValueError, match="larger numbers; expected text or whole numbers below 9007199254740992"):
        sigstats.compare(frame, frame, groups="g" if options else None)


def test_of_losses_the_lowest_ranks_first(tmp_path, answer):
    paths = [str(tmp_path / name) for name in ("a.csv", "b.csv")]
    for path, more in zip(paths, (1, 0), strict=True):
        table = {"id": range(200), "label": TRUE, "prediction": GUESS, "loss": FRACTIONS + more}
        pd.DataFrame(table).to_csv(path)
    first, second = answer("rank", *paths, "--score", "loss")["models"]
    assert (first["model"], first["rank_high"], second["model"]) == ("b", 1, "a")
    assert (first["score"], first["low"] < first["score"] < first["high"]) == (pytest.approx(FRACTIONS.mean()), True)


def test_a_direction_that_nothing_states_is_asked_for():
    table = marks(FRACTIONS).rename(columns={"f1": "elo"})
    better = table.assign(elo=FRACTIONS + 1)
    with pytest.raises(ValueError, match=r"^score: Is a higher 'elo' better\? Add higher_is_better='elo' or"):
        sigstats.compare(table, better, score="elo")
    verdicts = [sigstats.compare(table, better, **{way: "elo"}).verdict for way in WAYS]
    assert verdicts == ["fail", "inconclusive"]  # one more row might lose any number of points
    assert sigstats.compare(table, better, higher_is_better="elo", score_range=(0, 2)).verdict == "pass"
    with pytest.raises(ValueError, match=r"^lower_is_better: 'elo' is in higher_is_better too"):
        sigstats.compare(table, better, lower_is_better="elo", higher_is_better=["elo"])


WAYS = "lower_is_better", "higher_is_better"


def test_labels_of_another_file_are_joined_by_id(tmp_path, answer, refused):
    truth = pd.DataFrame({"id": range(200), "label": TRUE})
    sides = [truth.assign(prediction=each) for each in (TRUE, GUESS)]
    bare = [side.drop(columns="label").sample(frac=1, random_state=1) for side in sides]
    expected, found = sigstats.compare(*sides).rows, sigstats.compare(*bare, labels=truth).rows
    assert found == expected
    paths = [str(tmp_path / name) for name in ("a.csv", "b.csv", "truth.csv")]
    for path, table in zip(paths, (*bare, truth), strict=True):
        table.to_csv(path, index=False)
    assert answer("compare", *paths[:2], "--labels", paths[2], code=1)["rows"][0]["p_worse"] == expected[0].pvalue
    assert "column 'label' was not found (the true class of each row); expected" in refused("compare", *paths[:2])
    with pytest.raises(ValueError, match=r"^score: Is a higher 'target' better\? Add higher_is_better='target'"):
        sigstats.compare(*(table.rename(columns={"prediction": "target"}) for table in bare), score="target")
    truth[1:].to_csv(paths[2], index=False)
    assert "id '0' has no label" in refused("compare", *paths[:2], "--labels", paths[2])


def test_two_columns_of_one_frame_are_baseline_and_candidate():
    table = pd.DataFrame({"id": range(200), "label": TRUE, "tree": TRUE, "forest": GUESS})
    sides = [table.rename(columns={name: "prediction"}) for name in ("tree", "forest")]
    assert sigstats.compare(table, prediction=["tree", "forest"]).rows == sigstats.compare(*sides).rows
    with pytest.raises(ValueError, match=r"^prediction: .* expected two columns of this frame"):
        sigstats.compare(table, prediction="tree")
    long = pd.concat([side.assign(model=name) for side, name in zip(sides, "ab", strict=True)])
    assert sigstats.compare(long, model=["a", "b"]).rows == sigstats.compare(*sides).rows
    with pytest.raises(ValueError, match="model: 'c' was not found; expected one of 'a', 'b'"):
        sigstats.compare(long, model=["a", "c"])


def test_frames_may_lack_scores_where_that_is_said():
    marks = [pd.DataFrame({"id": range(60), "mark": np.arange(60) % k / 4}) for k in (5, 3)]
    lacking = [each.assign(mark=each["mark"].mask(each["id"] == row)) for row, each in enumerate(marks)]
    with pytest.raises(ValueError, match="1 of 60 rows have no 'mark': id '0'; add unscored='wrong'"):
        sigstats.compare(*lacking, score="mark")
    kept = sigstats.compare(*(each[each["id"] > 1] for each in marks), score="mark")
    assert sigstats.compare(*lacking, score="mark", unscored="drop").rows == kept.rows
    zero = sigstats.compare(*(each.fillna(0) for each in lacking), score="mark")
    assert sigstats.compare(*lacking, score="mark", unscored="wrong").rows == zero.rows


@pytest.mark.parametrize("margin", ["0.5pt", "0.5 points", "0.005", 0.005])
def test_a_margin_is_a_share_or_points(margin):
    assert sigstats.ComparisonRule(margin=margin).margin == 0.005


def test_a_bare_margin_that_may_mean_points_is_refused(tmp_path, capsys):
    with pytest.raises(ValueError, match=r"^margin: 0\.5 is not valid; expected 0\.5pt .* or 50pt"):
        sigstats.ComparisonRule(margin=0.5)
    assert main(["compare", "a.csv", "b.csv", "--minimum-effect", "0.5"]) == 2
    assert capsys.readouterr().err.startswith("sigstats: --minimum-effect: 0.5 is not valid; expected 0.5pt")


def filtered(path, filters, prompt="p", **more):
    asked = {"metrics": ["em"], "prompt_hash": prompt, **more}
    documents = [
        {"doc_id": n, "doc": {"q": n}, "filter": name, "em": right, **asked}
        for name, rights in filters.items()
        for n, right in enumerate(rights)
    ]
    return harness_log(path, documents)


def test_two_filters_of_one_log_are_compared_by_naming_both(tmp_path, answer, refused):
    strict, flexible = (RNG.random((2, 40)) < [[0.6], [0.8]]).astype(int).tolist()
    path = filtered(tmp_path / "a.jsonl", {"strict": strict, "flexible": flexible})
    (row,) = answer("compare", path, "--score", "em,flexible", "--score", "em,strict")["rows"]
    better = sum(a > b for a, b in zip(flexible, strict, strict=True))
    worse = sum(a < b for a, b in zip(flexible, strict, strict=True))
    assert (row["baseline"], row["candidate"]) == (pytest.approx(np.mean(flexible)), pytest.approx(np.mean(strict)))
    assert row["p_worse"] == pytest.approx(stats.binomtest(worse, better + worse, alternative="less").pvalue)
    other = filtered(tmp_path / "b.jsonl", {"strict": strict, "flexible": flexible}, target="another question")
    assert "target" in refused("compare", path, other, "--score", "em,flexible", "--score", "em,strict")
    assert "is both BASELINE and CANDIDATE" in refused("compare", path, *["--score", "em,strict"] * 3)
    copy = filtered(tmp_path / "c.jsonl", {"strict": strict, "flexible": flexible})
    rows = answer("compare", path, copy, "--score", "em,flexible", "--score", "em,strict")["rows"]
    assert [row["baseline"] for row in rows] == [pytest.approx(np.mean(flexible)), pytest.approx(np.mean(strict))]
    said = refused("check", path, "--score", "em", "--at-least", "0.1")
    assert "choose one of em,strict, em,flexible (--score NAME)" in said


def test_filters_are_listed_by_names_that_can_be_given(tmp_path, answer, refused):
    names = ["Read this.\nA", "Read this.\nB", "x" * 58]
    path = filtered(tmp_path / "a.jsonl", {name: [0, 1] * 20 for name in names})
    assert f"choose one of em,0, em,1, em,{names[2]} (--score NAME)" in refused("check", path, "--at-least", "0.1")
    for offered in ("em,0", "em,1", f"em,{names[2]}"):
        (row,) = answer("check", path, "--at-least", "0.1", "--score", offered)["rows"]
        assert row["value"] == 0.5


def test_a_log_of_several_filters_without_a_score_lacks_scores(tmp_path):
    documents = [{"doc_id": n, "doc": {"q": n}, "filter": name, "metrics": []} for name in "ab" for n in range(3)]
    for unscored in ("refuse", "wrong"):
        with pytest.raises(ValueError, match="none of its 6 answers has a score"):
            read(harness_log(tmp_path / "a.jsonl", documents), Columns(unscored=unscored))


def test_columns_of_a_table_may_have_names_with_a_comma(tmp_path, refused):
    path = tmp_path / "a.csv"
    pd.DataFrame({"id": range(20), "em,strict": 1, "em,flexible": 0}).to_csv(path, index=False)
    said = refused("compare", path, "--score", "em,strict", "--score", "em,flexible")
    assert "'em,strict' and 'em,flexible' are columns of one file; write a file for each model" in said


def test_a_name_with_a_comma_is_a_score_before_it_is_a_metric_and_a_filter(tmp_path):
    marks = {"metrics": ["em", "em,strict"], "em": 0, "em,strict": 1}
    path = harness_log(tmp_path / "a.jsonl", [{"doc_id": n, "filter": "strict", **marks} for n in range(20)])
    for score, mark in (("em,strict", 1.0), ("em", 0.0), ("em,strict,strict", 1.0)):
        assert set(sigstats.read_predictions(path, score=score)["score"]) == {mark}
    pd.DataFrame({"id": range(20), "em,strict": 0.5}).to_csv(tmp_path / "a.csv", index=False)
    assert set(sigstats.read_predictions(tmp_path / "a.csv", score="em,strict")["score"]) == {0.5}


def test_other_prompts_of_the_same_questions_are_told(tmp_path, printed):
    right = {"none": [1, 0] * 10}
    paths = [filtered(tmp_path / f"{prompt}.jsonl", right, prompt) for prompt in ("zero", "five")]
    for command in ("compare", "rank"):
        assert "20 of 20 prompts are not those of" in " ".join(printed(command, *paths).split())
    same = filtered(tmp_path / "c.jsonl", {"none": [0, 1] * 10}, "zero")
    assert "prompts are not" not in printed("compare", paths[0], same, code=(0, 1))


def test_scores_of_the_other_class_are_refused_or_told():
    """A baseline that is worse than chance for one class is good for the other: the worse model would pass."""
    y, rng = TRUE % 2, np.random.default_rng(1)  # of its own: what is drawn depends on no test before
    good, poor = y + rng.normal(0, 0.8, 200), y + rng.normal(0, 2, 200)
    with pytest.raises(ValueError, match=r"^scores of the baseline are lower for the class '1' \(area "):
        sigstats.compare(y, y, y, scores=(-good, -poor), measures=["auc"])
    named = sigstats.compare(y, y, y, scores=(-good, -poor), measures=["auc"], positive=0)
    assert (named.verdict, named.notes) == ("fail", ())
    wanted = np.mean((-good)[y == 0][:, None] > (-good)[y == 1])
    assert named.rows[0].baseline == pytest.approx(wanted)
    meant = sigstats.compare(y, y, y, scores=(-good, -poor), measures=["auc"], positive=1)
    assert meant.notes[0].startswith("scores of the baseline are lower for the class '1'")
    broken = sigstats.compare(y, y, y, scores=(good, -good), measures=["auc"])
    assert broken.verdict == "fail"
    assert broken.notes[0].startswith("scores of the candidate are lower for the class '1'")
    assert sigstats.compare(y, y, y, scores=(rng.random(200), good), measures=["auc"]).notes == ()


@pytest.mark.parametrize("measure", ["auc", "neg-brier", "neg-log-loss", "average-precision"])
def test_probabilities_of_the_other_class_are_refused_by_every_measure_of_one_column(measure):
    y, rng = TRUE % 2, np.random.default_rng(1)
    poor, good = (np.clip(0.5 + (y - 0.5) * far + rng.normal(0, 0.1, 200), 0.01, 0.99) for far in (0.2, 0.7))
    frames = [pd.DataFrame({"id": range(200), "label": y, "p_0": 1 - p, "p_1": p}) for p in (poor, good)]
    other, bar = {"score": "p_0", "measures": [measure]}, -0.1 if measure.startswith("neg") else 0.6
    doors = (
        lambda **named: sigstats.compare(*frames, **other, **named),
        lambda **named: sigstats.assert_no_regression(*frames, **other, **named),
        lambda **named: sigstats.check(frames[1], **other, **named, at_least=-0.3 if bar < 0 else bar),
    )
    for door in doors:
        with pytest.raises(ValueError, match=r"^scores of the (baseline|model) are lower for the class '1' \(area "):
            door()
        assert door(positive=0).verdict != "fail"
    right = sigstats.compare(*frames, score="p_1", measures=[measure])
    assert (right.verdict != "fail", right.rows[0].difference > 0) == (True, True)
    columns = {name: frame["p_0"] for name, frame in zip(("poor", "good"), frames, strict=True)}
    with pytest.raises(ValueError, match="scores of poor are lower for the class '1'"):
        sigstats.rank_models(pd.DataFrame(columns), label=y, measure=measure)


def test_random_scores_are_hardly_ever_taken_for_those_of_the_other_class():
    """Of scores that are random whatever the label, about 1 in 700 areas are three standard errors too low."""
    rng, refused = np.random.default_rng(2), 0
    for n, positives in 100 * [(12, 6), (40, 4), (100, 50)]:
        y, scores = (np.arange(n) < positives).astype(np.int64), rng.random(n)
        labels, scored = Labels(classes=("0", "1"), label=y), Scored(scores=(scores, scores))
        paired = PairedPredictions(units=Units(n=n), outcomes=labels, scored=scored)
        try:
            assert not [*reversed_scores(paired, ["neg-brier"], None, ("the model",))]
        except ValueError:
            refused += 1
    assert refused <= 3  # more with a probability of 1e-3


@pytest.mark.parametrize("measure", ["auc", "neg-brier", "neg-log-loss"])
def test_the_confidence_of_the_predicted_class_is_no_probability_of_the_positive_one(measure, tmp_path, refused):
    rng, y = np.random.default_rng(1), TRUE % 2
    p = np.clip(y + rng.normal(0, 0.6, len(y)), 0.01, 0.99).round(3)
    frame = pd.DataFrame({"id": range(len(y)), "label": y, "prediction": (p > 0.5) * 1, "probability": p})
    frame["confidence"] = np.maximum(p, 1 - p)
    told = (
        "none is below 0.5, though other classes are predicted with scores up to 0.99; expected the probability of '1'"
    )
    with pytest.raises(ValueError, match=told):
        sigstats.compare(frame, frame[::-1], score="confidence", measures=[measure])
    with pytest.raises(ValueError, match=told):
        sigstats.check(frame, score="confidence", measures=[measure], at_least=-0.9 if measure[0] == "n" else 0.9)
    paths = [tmp_path / name for name in ("a.csv", "b.csv")]
    for path in paths:
        frame.to_csv(path, index=False)
    assert told in refused("rank", *paths, "--score", "confidence", "--measure", measure)
    assert sigstats.compare(frame, frame[::-1], score="probability", measures=[measure]).verdict
    high = frame[p > 0.5]
    noisy = np.random.default_rng(2).normal(high.probability, 0.1) > 0.7
    for said in (high.probability > 0.9, noisy):  # a threshold, and another model
        both = high.assign(prediction=said * 1)
        assert sigstats.compare(both, both, score="probability", measures=[measure]).verdict


@pytest.mark.parametrize("measure", ["auc", "average-precision", "neg-brier", "neg-log-loss"])
def test_a_confidence_without_predictions_is_known_by_the_rows_of_the_other_class(measure, tmp_path, printed, refused):
    rng, y = np.random.default_rng(1), TRUE % 2
    frame = pd.DataFrame({"id": range(len(y)), "label": y})
    right, words = rng.random(len(y)) < 0.9, "the scores may be those of the predicted class"
    frame["max_prob"] = np.where(right, rng.uniform(0.8, 1, len(y)), rng.uniform(0.5, 0.8, len(y))).round(4)
    frame["ranked"], frame["weak"] = 0.5 + y / 4 + rng.random(len(y)) / 5, 0.5 + 0.01 * y
    frame.to_csv(tmp_path / "a.csv", index=False)
    bar = {"auc": "0.7", "average-precision": "0.7", "neg-brier": "-0.3", "neg-log-loss": "-0.9"}[measure]
    told = f"no score of the model is below 0.5, though {1 - y.mean():.0%} of the rows are not '1'"
    command = ["check", tmp_path / "a.csv", "--measure", measure, f"--at-least={bar}", "--score"]
    if measure.startswith("neg"):
        assert f"{told}; expected the probability of '1', not that of" in refused(*command, "max_prob")
        command[2:2] = ["--positive", "1"]
    text = printed(*command, "max_prob", code=(0, 1))
    assert f"{told}: they may be probabilities of the predicted class" in text
    assert f", but {words}" in text.partition("\n")[0]
    for honest in ("ranked", "weak"):  # similarities that separate the classes, and hardly more than a coin
        assert words not in printed(*command, honest, code=(0, 1))


@pytest.mark.parametrize(
    "name", ["id", "Unnamed: 0", "label", "y_true", "Target", "y", "seed", "run_id", "fold", "image_id"]
)
def test_a_column_that_is_no_model_is_not_ranked(name):
    frame = pd.DataFrame({"a": TRUE == 0, "b": GUESS == 0}).astype(int)
    with pytest.raises(ValueError, match=f"models: the column '{name}' is not a model"):
        sigstats.rank_models(frame.assign(**{name: range(200)}))
    assert len(sigstats.rank_models(frame.assign(**{name: range(200)}), models=["a", "b"]).models) == 2


def test_models_whose_names_have_such_words_are_ranked():
    scores = np.array([TRUE == 0, GUESS == 0]).T
    for names in (["x", "y"], ["two_step", "best_run"]):
        assert {model.model for model in sigstats.rank_models(pd.DataFrame(scores, columns=names)).models} == {*names}


def test_other_choices_of_the_same_questions_are_told(tmp_path, printed):
    def written(name, choices):
        sample = {"input": "q", "target": "A", "choices": choices, "scores": {"match": {"value": "C"}}}
        samples = [{"id": n // 2, "epoch": 1 + n % 2, **sample} for n in range(40)]
        return inspect_log(tmp_path / name, [], samples=samples)

    first, same, other = written("a.json", ["x", "y"]), written("b.eval", ["x", "y"]), written("c.json", ["y", "x"])
    assert "prompts" not in printed("compare", first, same).replace(str(tmp_path), "")
    assert "40 of 40 prompts are not those of" in " ".join(printed("compare", first, other).split())


def test_a_direction_of_what_is_no_score_is_refused(tmp_path, refused):
    rng = np.random.default_rng(1)
    frames = []
    for name in "ab":
        frame = pd.DataFrame({"id": range(60), "label": 0, "prediction": 0, "mark": rng.random(60), "words": 9})
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
        frames.append(frame)
    said = "'marks' is not valid; expected one of the scores that are named, 'mark' (did you mean 'mark'?)"
    for named in ({"score": "mark"}, {"score": ["mark"]}, {"ratio": "mark/words"}):
        with pytest.raises(ValueError, match=re.escape(f"higher_is_better: {said}")):
            sigstats.compare(*frames, **named, higher_is_better="marks")
    files = [str(tmp_path / "a.csv"), str(tmp_path / "b.csv")]
    for command in ("compare", "rank"):
        assert f"--lower-is-better: {said}" in refused(command, *files, "--score", "mark", "--lower-is-better", "marks")
    study = {"kind": "regression", "baseline": files[0], "candidate": files[1]}
    with pytest.raises(ValueError, match=re.escape(f"columns: lower_is_better: {said}")):
        sigstats.run_study(
            {**study, "columns": {"score": "mark", "lower_is_better": ["marks"]}}, output=tmp_path / "out", quiet=True
        )
    lower, higher = (
        sigstats.compare(*frames, ratio="mark/words", **{way: name}).rows[-1]
        for way, name in (("lower_is_better", "mark/words"), ("higher_is_better", "mark"))
    )
    assert (lower.lower_is_better, higher.lower_is_better) == (True, False)
    assert lower.difference == pytest.approx(higher.difference)


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        (["01234", "94110"], "1234"),
        (["-1", "1"], "+1"),
        (["0", "1"], "-0"),
        (["0", "1", "2"], "1.0"),
        (["1000", "2000"], "1e3"),
        (["new york", "boston"], "new_york"),
        (["0", "1"], "True"),
        (["no", "yes"], "1"),
        (["False", "True"], "no"),
        (["cat", "dog"], "cat\u200b"),
        (["cat", "dog"], "\ufeffcat"),
        (["cat", "dog"], "**cat**"),
        (["cat", "dog"], "\u2581cat"),
        (["café", "bar"], "cafÃ©"),
    ],
)
def test_another_text_of_one_class_is_no_other_class(labels, said):
    of = {"1234": "01234", "+1": "1", "-0": "0", "1.0": "1", "1e3": "1000", "new_york": "new york", "no": "False"}
    same = {**of, "True": "1", "1": "yes", "cafÃ©": "café"}.get(said, "cat")
    base = pd.DataFrame({"id": range(60), "label": np.resize(labels, 60)})
    base["prediction"] = base["label"]
    other = base.assign(prediction=base["label"].replace({same: said}))
    message = re.escape(f"prediction: {shown(said)} of the candidate is another spelling of the label {same!r}")
    with pytest.raises(ValueError, match=message):
        sigstats.compare(base, other)
    result = sigstats.compare(base, other, measures="accuracy")  # only equal names are right
    assert result.rows[0].candidate == np.mean(base["label"] != same)


def test_numbers_that_a_float_cannot_tell_apart_are_different_classes():
    base = pd.DataFrame({"id": range(60), "label": np.resize(["18446744073709551616", "2"], 60)})
    base["prediction"] = base["label"]
    other = base.assign(prediction=base["label"].replace({"18446744073709551616": "18446744073709551617"}))
    assert sigstats.compare(base, other).rows[0].candidate == 0.5


@pytest.mark.parametrize(
    ("option", "bar", "limits", "meant"),  # in the unit of the marks, or the words of the question
    [
        ("at_least", 0.9, (0, 100), "0.9 may be 90 (write 90%) or 0.9 (write 0.9%) of 0 to 100, the range of 'x'"),
        ("at_least", 0.9, (0, 10), "0.9 may be 9 (write 90%) or 0.9 (write 9%) of 0 to 10"),
        ("at_least", 1, (0, 10), "1 may be 10 (write 100%) or 1 (write 10%)"),
        ("at_least", 0.5, (-5, 5), "0.5 may be 0 (write 50%) or 0.5 (write 55%) of -5 to 5"),
        ("at_most", 0.9, (0, 10), "0.9 may be 9 (write 90%) or 0.9 (write 9%)"),
        ("at_least", 0.9, (1, 10), "expected a number between 1 and 10"),
        ("at_least", "90%", None, "expected a number in the unit of x"),
        ("at_least", "90%", (-1, 1), "expected a number in the unit of x"),
        ("at_least", "90%", (0, 10), 9),
        ("at_least", "9%", (0, 10), 0.9),
        ("at_least", "50%", (1, 10), 5.5),
        ("at_most", "90%", (0, 10), 9),
        ("at_most", 1, (0, 10), 1),
        ("at_least", 40, (0, 100), 40),
        ("at_least", 0.9, (0, 1), 0.9),
        ("at_least", 0.9, (-1, 1), 0.9),
        ("at_least", 0.9, None, 0.9),
    ],
)
def test_a_bar_that_may_be_a_share_of_a_range_or_a_mark_is_asked_about(option, bar, limits, meant):
    low, high = limits or (0, 1)
    frame = pd.DataFrame({"id": range(200), "x": np.linspace(low, high, 200)})
    way = {"lower_is_better": "x"} if option == "at_most" else {"higher_is_better": "x"}
    options = {option: bar, "score_range": limits, **way}
    if isinstance(meant, str):
        for check in (sigstats.check, sigstats.assert_at_least):
            with pytest.raises(ValueError, match=re.escape(meant)):
                check(frame, **options)
        return
    result = sigstats.check(frame, **options)
    assert result.bar == meant
    assert result.rows[0].value == pytest.approx(frame["x"].mean())
    assert not (isinstance(bar, str) and "unlike-units" in [note.name for note in result.notes])


@pytest.mark.parametrize("bar", ["0.9", "0.9s", "9%"])
def test_a_bar_of_a_score_whose_name_has_its_unit_is_in_this_unit(bar):
    frame = pd.DataFrame({"id": range(200), "latency_sec": np.linspace(0, 1, 200)})
    assert sigstats.check(frame, score="latency_sec", at_most=bar, score_range=(0, 10)).bar == 0.9


@pytest.mark.long
def test_a_bar_in_per_cent_is_one_value_for_all_measures_and_gaps():
    frame = pd.DataFrame({"label": [0, 1] * 100, "prediction": 1, "x": np.tile([4.0, 6.0], 100), "site": [*"ab"] * 100})
    options = {"higher_is_better": "x", "score_range": (0, 10)}
    with pytest.raises(ValueError, match=r"at_least: '40%' is not valid; expected one measure, since it means 0.4 and"):
        sigstats.check(frame, at_least="40%", measures=["accuracy", "mean-score"], **options)
    gaps = {"slices": ["site"], "rule": sigstats.ComparisonRule(gaps=True), **options}
    assert [sigstats.check(frame, at_most=bar, **gaps).bar for bar in ("5%", 0.5)] == [0.5, 0.5]


def test_sections_and_hashes_are_not_refused_as_numbers_in_two_forms():
    y, rng = np.tile([0, 1], 60), np.random.default_rng(1)
    a, b = (np.where(rng.random(120) < 0.2, 1 - y, y) for _ in "ab")
    for groups in ([f"1.{k % 30 + 1}" for k in range(120)], [("1000", "1E3", "2F7")[k % 3] for k in range(120)]):
        assert "spelled-twice" in [note.name for note in sigstats.compare(y, a, b, groups=groups).notes]


@pytest.mark.parametrize("name", ["unknown", -1])
def test_a_group_that_is_much_larger_than_others_is_noted(name):
    """It may stand for unknown groups; the sizes of natural groups fall off by Zipf's law at most."""
    rng = np.random.default_rng(4)
    y, a, b = rng.integers(0, 2, (3, 300))
    known = np.arange(300) // 4
    groups = np.where(np.arange(300) % 3 == 0, name, known)
    zipf = np.repeat(np.arange(100), 60 // (1 + np.arange(100)))[:200]
    for door in (
        lambda of: sigstats.compare(y[: len(of)], a[: len(of)], b[: len(of)], groups=of),
        lambda of: sigstats.check(y[: len(of)], a[: len(of)], groups=of, at_least=0.4),
        lambda of: sigstats.rank_models(pd.DataFrame({"y": y, "a": a, "b": b})[: len(of)], label="y", groups=of),
    ):
        (note,) = [note for note in door(groups).notes if note.name == "large-group"]
        assert f"groups: '{name}' has 100 of 300 rows, and no other group more than 3; if it stands for unknown" in note
        assert "large-group" not in [note.name for of in (known, zipf) for note in door(of).notes]


@pytest.mark.long
@pytest.mark.parametrize("factor", [1 / 60, 1 / 3, 1, 3, 60])
@pytest.mark.parametrize("measure", ["neg-mae", "neg-mse", "rmse", "ratio"])
def test_a_bar_in_another_unit_than_errors_or_ratios_is_noted(measure, factor):
    """The bar is this many times the value; sizes of rows, such as those of a numerator, do not matter."""
    rng = np.random.default_rng(3)
    label, words = rng.normal(3_000, 500, 400).round(1), rng.integers(500, 2_000, 400)
    error = rng.normal(0, 20, 400).round(1)
    frame = pd.DataFrame({"label": label, "prediction": label + error, "words": words, "slips": rng.poisson(40, 400)})
    value = {
        "neg-mae": -np.abs(error).mean(),
        "neg-mse": -(error**2).mean(),
        "rmse": (error**2).mean() ** 0.5,
        "ratio": frame["slips"].sum() / words.sum(),
    }[measure]
    bar = "at_least" if measure.startswith("neg") else "at_most"
    of_ratio = {"ratio": "slips/words", "lower_is_better": "slips"}
    more = of_ratio if measure == "ratio" else {"measures": measure}
    notes = [note.name for note in sigstats.check(frame, **{bar: value * factor}, **more).notes]
    assert ("unlike-units" in notes) == (max(factor, 1 / factor) >= 50)


@pytest.mark.parametrize(
    ("score", "values", "bar", "refused"),
    [
        ("wer", (2, 29), {"at_most": 0.2}, True),
        ("wer", (0.02, 0.29), {"at_most": 20}, True),
        ("f1", (50, 95), {"at_least": 0.9}, True),
        ("wer", (2, 29), {"at_most": 20}, False),
        ("wer", (0.02, 1.5), {"at_most": 0.2}, False),
        ("wer", (1, 4), {"at_most": 0.2}, False),  # words of which each was said alone
        ("latency_s", (2, 29), {"at_most": 0.2}, False),
    ],
)
def test_a_rate_and_its_bar_are_in_one_unit(score, values, bar, refused):
    frame = pd.DataFrame({score: np.linspace(*values, 200)})
    if refused:
        with pytest.raises(ValueError, match=r"scores: .* and a bar of .* look like two units; expected one unit"):
            sigstats.check(frame, score=score, **bar)
    else:
        assert sigstats.check(frame, score=score, **bar).rows


@pytest.mark.parametrize("bar", [0.5, 40])
def test_the_bar_of_a_gap_is_not_compared_with_marks(bar):
    """Groups whose means differ by little may have marks that are large compared with the largest acceptable gap."""
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({"f1": rng.uniform(40, 100, 400).round(1), "site": np.array(["n", "s"])[np.arange(400) % 2]})
    rule = sigstats.ComparisonRule(gaps=True)
    options = {"score": "f1", "score_range": (0, 100), "slices": ["site"], "rule": rule}
    assert "unlike-units" not in [note.name for note in sigstats.check(frame, at_most=bar, **options).notes]


@pytest.mark.long
@pytest.mark.parametrize(
    ("times", "units"),  # the prices of eight models, of two far apart, of one in micro-dollars
    [((60, 50, 8, 9, 3, 5, 1, 0.5), False), ((900, 90, 9, 1), False), ((100, 1), False), ((60, 5, 5e5), True)],
)
def test_costs_in_a_named_unit_may_differ_as_prices_do(tmp_path, printed, times, units):
    rng = np.random.default_rng(5)
    tokens, cost = rng.lognormal(0, 0.5, (400, 1)), []
    for place, price in enumerate(times):
        cost.append(tokens[:, 0] * rng.lognormal(0, 0.2, 400) * price / 1e3)
        frame = pd.DataFrame({"id": range(400), "label": 0, "prediction": rng.random(400) < 0.3, "cost_usd": cost[-1]})
        frame.assign(spent=cost[-1]).to_csv(tmp_path / f"m{place}.csv", index=False)
    files = [str(tmp_path / f"m{place}.csv") for place in range(len(times))]
    named = ["--score", "cost_usd"]
    for command in (
        ["rank", *files, "--cost", "cost_usd"],
        ["rank", *files, "--cost", "spent"],
        ["rank", *files, *named],
        ["compare", *files[-2:], *named],
    ):
        assert ("may be in two units" in " ".join(printed(*command, code=(0, 1)).split())) == units, command
    right = rng.random((400, len(times))) < 0.5
    assert ("may be in two units" in str(sigstats.rank_models(right, cost=np.array(cost).T).notes)) == units


@pytest.mark.parametrize("limits", [(-7, 0), (0, 1), (0.01, 1)])
def test_limits_of_the_log_loss_are_those_of_probabilities(limits):
    rng, y = np.random.default_rng(1), TRUE % 2
    a, b = np.clip(y + rng.normal(0, 0.4, (2, len(y))), 0.05, 0.95)
    how, frame = {"scores": (a, b), "measures": "neg-log-loss"}, pd.DataFrame({"label": y, "p": a})
    with pytest.raises(ValueError, match=r"^score_range: .* expected the limits of probabilities, such"):
        sigstats.compare(y, y, y, **how, score_range=limits)
    assert (
        "limits of probabilities (--score-range LOW HIGH, such as 0.001 0.9"
        in sigstats.compare(y, y, y, **how).answer.advice
    )
    with pytest.raises(ValueError, match="expected the limits of probabilities"):
        sigstats.check(frame, score="p", measures="neg-log-loss", at_least=-1, score_range=limits)
    assert sigstats.compare(y, y, y, **how, score_range=(0.01, 0.99)).rows[0].adjusted_pvalue is not None
