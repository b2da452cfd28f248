"""How a comparison is said: in a terminal, as Markdown, as JUnit's XML and on a page."""

import json
import re
from dataclasses import replace
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sigstats
from sigstats.comparison.cells import cells_of
from sigstats.comparison.compare import compare_pair
from sigstats.comparison.rule import ComparisonRule, RowTest
from sigstats.flows.commands import main
from sigstats.flows.comparison.for_programs import as_json, as_junit
from sigstats.flows.comparison.markdown import as_markdown
from sigstats.flows.comparison.page import as_html
from sigstats.flows.comparison.text import as_text, rows_shown

from ...examples import examples
from ...paired import paired_codes
from ...programs import needs
from ..browser import CHROMIUM, open_page


def found(slices=3, n=100, seed=1, name="region {}", measures=None):
    """A comparison in whose every third slice the candidate is much worse, and in every other one equal."""
    rng = np.random.default_rng(seed)
    part = np.repeat(np.arange(slices), n)
    label = np.zeros(len(part), dtype=np.int64)
    a = (rng.random(len(part)) < 0.05).astype(np.int64)
    b = np.where((part % 3 == 0) & (rng.random(len(part)) < 0.4), 1, np.where(part % 3 == 1, a, a[::-1]))
    names = tuple(name.format(i) for i in range(slices))
    paired = paired_codes(label, a, b, slices={"part": (names, part)}, scores=(a / 3, b / 3))
    return compare_pair(paired, ComparisonRule(), measures)


@pytest.mark.long
@pytest.mark.parametrize("width", [60, 80, 160])
@pytest.mark.parametrize("name", ["region {}", "a very long name of a slice that fills a terminal of any width {}"])
def test_lines_fit_the_terminal_and_no_number_is_broken(width, name):
    result = found(30, name=name, measures=["accuracy", "mean-score"] if width > 60 else None)
    said = as_text(result, "base.csv", "cand.csv", width=width)
    assert all(len(line) <= width for line in said.splitlines())
    assert "…" not in said
    for row in rows_shown(result):
        difference, interval, p = (cells_of(row)[name] for name in ("difference", "interval", "p adjusted"))
        assert any(difference in line and interval in line and p in line for line in said.splitlines())


def test_of_inconclusive_rows_whose_adjusted_p_is_1_the_worst_come_first():
    unsure = [row for row in found(60).ranked if row.verdict == "inconclusive"]
    assert len([row for row in unsure if row.adjusted_pvalue == 1]) > 20
    assert [row.pvalue for row in unsure] == sorted(row.pvalue for row in unsure)


def test_fails_come_first_then_what_is_inconclusive_and_the_rest_is_counted():
    result = found(60)
    said = as_text(result, "base.csv", "cand.csv", width=120)
    verdicts = re.findall(r"  (fail|inconclusive|pass) *$", said, flags=re.M)
    assert verdicts == sorted(verdicts)
    assert len(verdicts) <= 20
    rest = re.search(r"and (\d+) more: (.*)", said)
    assert (
        int(rest[1]) == len(result.rows) - len(verdicts) == sum(int(each) for each in re.findall(r"(\d+) \w+", rest[2]))
    )
    assert said.count("FAIL") == 1
    assert len(json.loads(as_json(result, "a", "b"))["rows"]) == len(result.rows)


def test_slices_that_lean_neither_way_are_folded():
    label = np.zeros(900, dtype=np.int64)
    a, b, part = label.copy(), label.copy(), np.arange(900) // 100
    for slice_, (broken, fixed) in enumerate([(5, 1), (1, 5), *[(3, 3)] * 7]):
        rows = np.flatnonzero(part == slice_)
        b[rows[:broken]], a[rows[broken : broken + fixed]] = 1, 1
    slices = {"s": (tuple("abcdefghi"), part)}
    compared = compare_pair(paired_codes(label, a, b, slices=slices))
    said = as_text(compared, "a", "b", width=120)
    assert re.findall(r"^(s = \w|all rows) +\d", said, flags=re.M) == ["all rows", "s = a", "s = b"]
    assert (
        "and 7 more: 7 inconclusive\nno evidence either way on s = c, s = d, s = e, s = f, s = g and 2 more\n" in said
    )
    written = as_markdown(compared, "a", "b")
    assert written.index("| s = b |") < written.index("<details><summary>7 inconclusive") < written.index("| s = c |")
    assert written.index("| s = i |") < written.index("</details>")
    assert written.count("is not excluded") == 3


def test_what_differs_nowhere_is_said_once():
    label = np.zeros(120, dtype=np.int64)
    paired = paired_codes(label, label, label, slices={"s": (tuple("abcdef"), np.arange(120) % 6)})
    said = as_text(compare_pair(paired), "a", "b", width=100)
    assert said.count("did not change") == 1
    assert "INCONCLUSIVE: accuracy on all rows did not change, but 120 rows do not exclude" in said
    assert "no evidence either way on s = a, s = b, s = c, s = d, s = e and 1 more\n" in said
    assert "looks" not in said


def test_a_fail_whose_interval_holds_zero_says_why():
    a, b = np.zeros(2, dtype=np.int64).repeat(100), np.zeros(200, dtype=np.int64)
    b[:11], a[-3:] = 1, 1
    result = compare_pair(paired_codes(np.zeros(200, dtype=np.int64), a, b))
    (row,) = result.rows
    # One-sided 0.029, two-sided 0.057.
    assert (row.verdict, row.pvalue <= 0.05 < row.two_sided_pvalue) == (
        "fail",
        True,
    )  # one-sided 0.029, two-sided 0.057
    assert row.low < 0
    said = as_text(result, "a", "b", width=100)
    assert ("Beware: the interval includes 0 as it is two-sided; p is one-sided\n" in said) == (row.high >= 0)


def test_the_interval_of_looks_is_not_called_two_sided():
    a, b = np.zeros(2, dtype=np.int64).repeat(100), np.zeros(200, dtype=np.int64)
    b[:30] = 1
    result = compare_pair(paired_codes(np.zeros(200, dtype=np.int64), a, b))
    ends = {"low": -0.2, "high": 0.01}
    for kind, told in (("betting", "it covers all looks together"), ("exchange", "it is two-sided; p is one-sided")):
        row = replace(result.rows[0], test=RowTest("test", kind), **ends)
        said = as_text(replace(result, rows=(row,)), "a", "b", width=200)
        assert f"Beware: the interval includes 0 as {told}" in said


@pytest.mark.long
def test_markdown_fits_a_comment_whatever_the_names_are():
    result = found(1500, n=12, name="*[x](y)*|`_<b>_` " * 20 + "{}")
    said = as_markdown(result, "`" * 50 + "base", "cand|*.csv")
    assert len(said) <= 65_536
    shown = sum(line.startswith("| part") for line in said.splitlines())
    rest = int(re.search(r"And ([\d,]+) more", said)[1].replace(",", ""))
    assert shown > 10
    assert shown + said.count("| all rows") + rest == len(result.rows)
    assert said.count("FAIL") == 1


names = st.text(min_size=1, max_size=12)


@pytest.mark.long
@settings(deadline=None, derandomize=True, max_examples=examples(50))
@given(names, names, st.booleans())
def test_junit_is_xml_whatever_the_names_are(part, file, fail_on_inconclusive):
    label = np.zeros(40, dtype=np.int64)
    b = np.ones(40, dtype=np.int64)
    slices = {"s": ((part, "rest", "few"), np.repeat([0, 1, 2], [20, 15, 5]))}
    result = compare_pair(paired_codes(label, label, b, slices=slices))
    suite = ET.fromstring(as_junit(result, file, file, fail_on_inconclusive=fail_on_inconclusive).encode()).find(
        "testsuite"
    )
    cases = suite.findall("testcase")
    assert len(cases) == len(result.rows) == int(suite.get("tests"))
    assert [case.find("failure") is not None for case in cases] == [row.verdict == "fail" for row in result.rows]
    unanswered = [row.verdict in (None, "inconclusive") and not fail_on_inconclusive for row in result.rows[:3]]
    assert [case.find("skipped") is not None for case in cases] == [*unanswered, True]
    assert "; p adjusted: " in cases[0].find("system-out").text
    assert cases[0].find("failure").get("message").startswith("accuracy on all rows fell by 100.00 points (")


def test_what_is_inconclusive_fails_where_they_are_said_to(tmp_path):
    rows = "\n".join(f"{i},1,{int(i > 0)}" for i in range(30))
    (tmp_path / "a.csv").write_text(f"id,label,prediction\n{rows}\n")
    (tmp_path / "b.csv").write_text(f"id,label,prediction\n{rows}\n\n")
    arguments = ["compare", str(tmp_path / "a.csv"), str(tmp_path / "b.csv"), "--report", str(tmp_path / "j.xml")]
    assert main(arguments) == 0
    assert main([*arguments, "--fail-on", "inconclusive"]) == 1
    (failure,) = ET.parse(tmp_path / "j.xml").findall("testsuite/testcase/failure")
    assert failure.get("type") == "inconclusive"
    assert "but 30 rows do not exclude a drop of more than 0.5 points" in failure.get("message")


def test_one_minus_sign_everywhere():
    result = found(4)
    for say in (as_markdown, as_html, lambda *all_: as_text(*all_, width=100)):
        said = say(result, "base", "cand")
        assert not re.search(
            r"[ (]-\d", re.sub(r"<style>.*?</style>|<svg.*?</svg>|<script>.*|```.*```", "", said, flags=re.S)
        )
        assert "−" in said


def test_the_page_says_the_verdict_once():
    page = as_html(found(4), "base", "cand")
    body = page[page.index("<body>") :]
    assert body.count("FAIL") == 1


@pytest.mark.long
@needs(CHROMIUM, "chromium")
@pytest.mark.processes
def test_the_table_of_the_page_fits_1200_pixels(tmp_path):
    page = as_html(found(6, name="a region with a name {}", measures=["balanced-accuracy", "mean-score"]), "b", "c")
    script = '<script>document.title = document.querySelector("table.data").scrollWidth</script>'
    (tmp_path / "page.html").write_text(
        re.sub(r"<meta http-equiv[^>]*>", "", page).replace("</body>", f"{script}</body>")
    )
    dom = open_page((tmp_path / "page.html").as_uri(), tmp_path, size=(1200, 800)).dom
    assert 0 < int(re.search(r"<title>(\d+)</title>", dom)[1]) <= 1200 - 2 * 24


def test_markdown_lists_the_gravest_reasons_and_leaves_the_others_to_the_table():
    markdown = as_markdown(found(30), "base.csv", "cand.csv")
    reasons = [line for line in markdown.splitlines() if line.startswith("- ")]
    assert [line.startswith("- accuracy on part = region ") for line in reasons] == [True] * 5 + [False]
    assert not any(" all rows" in line for line in reasons)  # the headline states it
    assert re.fullmatch(r"- and \d+ more, in the table", reasons[5])
    assert markdown.count("| fail |") == 11  # all rows and each third slice


def test_of_slices_with_tied_adjusted_p_the_one_with_the_smallest_p_is_looked_at_first():
    """11 and 10 lost answers, p 1/2048 and 1/1024: Holm's adjustment gives both 1/1024."""
    region = np.repeat(["south", "east"], [400, 40])
    label, b = np.zeros(440, dtype=int), np.zeros(440, dtype=int)
    b[:11] = b[400:410] = 1
    result = sigstats.compare(label, label, b, slices={"region": region})
    adjusted = {row.slice: row.adjusted_pvalue for row in result.rows if row.measure == "accuracy"}
    assert adjusted["region = south"] == adjusted["region = east"] == pytest.approx(1 / 1024)
    assert "Look at region = south first" in result.answer.advice
