"""Numbers in prose: they read back as what they are, and the ends of an interval differ where they do."""

import ast
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sigstats
from sigstats._common.numerals import NBSP, both_ends, number, percent_range, percent_span, points_range, significant
from sigstats.comparison.cells import cells_of, interval_of
from sigstats.comparison.result import rule_in_words
from sigstats.comparison.rows import ComparisonRow
from sigstats.flows.calibration.report import page
from sigstats.flows.calibration.report.page import RATE_INTERVAL
from sigstats.flows.ranking import words
from sigstats.flows.report import sections
from sigstats.flows.report import usual_columns as usual
from sigstats.flows.report import verdicts as _verdicts
from sigstats.intervals import Interval
from sigstats.ranking.result import RankedModel, Ranking
from sigstats.tasks.schema import Hypothesis

ROOT = Path(__file__).resolve().parents[3]
ROW = Hypothesis(study="s", cell="c", test="calibration", method="m", alternative="greater", null_hypothesis="")


def read(text):
    """The number that a text shows."""
    text = text.replace(NBSP, "").replace("−", "-").replace("×10", "e").replace(",", "").removesuffix("%")
    return float(text.translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")))


@given(st.floats(-1e9, 1e9), st.integers(1, 15))
def test_a_number_reads_back_with_its_digits_and_never_as_python_writes_it(value, digits):
    shown = significant(value, digits)
    assert read(shown) == float(f"{value:.{digits}g}")
    assert "e" not in shown
    assert "-" not in shown


@given(st.floats(0, 1), st.floats(0, 1))
def test_the_ends_of_an_interval_are_told_apart_wherever_it_is_printed(one, other):
    low, high = sorted((one, other))
    shown = both_ends(low, high, number, 1)
    if high - low > 1e-15:
        assert shown[0] != shown[1]
        assert read(shown[0]) <= read(shown[1])
    elif low == high:
        assert shown == (number(low, 1),) * 2


@pytest.mark.parametrize("low", [0.0, 0.3])
def test_every_table_and_sentence_tells_close_ends_apart(low):
    """Of an interval a millionth wide, in each place in which one is printed."""
    high = low + 2e-6
    compared = ComparisonRow(slice="all rows", measure="accuracy", n=9, difference=low, low=low, high=high)
    marked = ComparisonRow(slice="all rows", measure="neg-mae", n=9, difference=low, low=low, high=high)
    row = ROW.with_(n=100, estimate=low, estimate_low=low, estimate_high=high, replicates=9)
    model = {"model": "m", "rank_low": 1, "rank_high": 1, "tier": 1, "score": low}
    ranked = [
        RankedModel(**model, accuracy=accuracy, confidence_interval=Interval(low, high, 0.95))
        for accuracy in (low, None)
    ]
    ranking = Ranking(models=ranked, pairs=(), slices=(), measure="", n=100, groups=None, confidence_level=0.95)
    printed = [
        *(interval_of(each) for each in (compared, marked)),
        *(cells_of(each)["interval"] for each in (compared, marked)),
        *(words.cells_of(ranking, each)[-1] for each in ranked),
        *(usual.INTERVAL.text(row.with_(measure=measure)) for measure in ("accuracy", "bias")),
        usual.MONTE_CARLO.text(row.with_(p_low=low, p_high=high)),
        RATE_INTERVAL.text(row),
        _verdicts.in_points("").pop().text(row),
        sections.SIGNED_RANK_INTERVAL.text(row),
        percent_range(low, high),
        points_range(low, high),
    ]
    for text in printed:
        ends = re.split(" to |–", text)
        assert len(ends) == 2, text
        assert read(ends[0]) < read(ends[1]), text


def test_rates_that_look_equal_are_one_number():
    assert percent_span([0.0, 0.0]) == "0.0%"
    assert percent_span([0.300002, 0.3]) == "30.0%"
    assert percent_span([0.31, 0.3]) == "30.0 to 31.0%"
    assert page._span((1e-6, 2e-6)) == "0.0%"
    assert page._span((0.01, 0.02)) == "1.0–2.0%"


def test_a_small_level_reads_as_a_small_p_value_does():
    rule = sigstats.ComparisonRule(alpha=0.00005, margin=1e-7)
    said = rule_in_words(sigstats.compare([0, 1] * 50, [0, 1] * 50, [0] * 100, rule=rule))
    assert f"p{NBSP}≤{NBSP}5{NBSP}×{NBSP}10⁻⁵" in said
    assert f"below −1{NBSP}×{NBSP}10⁻⁵ points" in said
    assert "e-0" not in said


@pytest.mark.long
def test_no_level_is_printed_as_python_writes_it():
    """Levels and confidences in text go through `significant`; what is refused is shown as it was typed."""
    found = []
    for path in [*(ROOT / "flows").rglob("*.py"), *(ROOT / "sigstats").rglob("*.py"), *(ROOT / "tasks").rglob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FormattedValue) and isinstance(node.value, ast.Attribute):
                spec = ast.unparse(node.format_spec) if node.format_spec else ""
                level = node.value.attr in ("alpha", "level", "confidence_level", "risk")
                if level and ("g'" in spec or not spec):
                    found.append(f"{path.name}: {ast.unparse(node.value)}")
    assert found == ["model.py: self.alpha"]
