"""The answer of a comparison: the test that decides, and the same headline and advice in every output."""

import html
import json
import re
from xml.etree import ElementTree as ET

import numpy as np
import pandas as pd
import pytest

import sigstats
from sigstats.flows.commands import main

from ..conftest import as_outputs

OUTPUTS = ("json", "md", "html", "xml")


def compared(folder, capsys, frames, *options, code):
    """What is printed, and the text of each other output; the candidates are all frames but the first."""
    for name, frame in frames.items():
        frame.to_csv(folder / f"{name}.csv", index=False)
    places = {name: folder / f"found.{name}" for name in OUTPUTS}
    written = as_outputs(*places.values())
    files = [str(folder / f"{name}.csv") for name in frames]
    assert main(["compare", *files, *options, *written]) == code
    return capsys.readouterr().out, {name: place.read_text() for name, place in places.items()}


def plain(text):
    """A text without the marks of HTML and Markdown."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", "", text)).replace("\\", "").split())


def costs(n=4000):
    """The candidate is as accurate, and its costs are four times as high."""
    rows = np.arange(n)
    base = pd.DataFrame({"id": rows, "label": 1, "prediction": (rows % 10 > 0) * 1, "cost_usd": 0.001 + rows / 1e8})
    return {"base": base, "new": base.assign(cost_usd=4 * base["cost_usd"])}


def gains(n=200):
    """On eight slices of n rows: a clear gain on seven, and one on which the candidate is a little behind."""
    region, rows = np.repeat(list("abcdefgh"), n), np.tile(np.arange(n), 8)
    base = pd.DataFrame({"id": np.arange(8 * n), "label": 1, "region": region, "prediction": (rows >= n // 4) * 1})
    better = np.where(region == "c", base["prediction"] - ((rows >= n - 6) * 1) + (rows < 4), (rows >= n // 8) * 1)
    behind = np.where(region == "d", (rows >= n // 2) * 1, better)
    return {"base": base, "gain": base.assign(prediction=better), "mixed": base.assign(prediction=behind)}


def test_every_output_qualifies_a_verdict_that_groups_change(tmp_path, capsys):
    """The exit code and the verdict are those of the rows."""
    rng, patient = np.random.default_rng(0), np.repeat(np.arange(300), 5)
    change = rng.permutation([1] * 22 + [-1] * 12 + [0] * 266)[patient]
    base = pd.DataFrame(
        {"id": np.arange(1500), "label": 1, "patient": patient, "prediction": (rng.random(1500) < 0.5) * 1}
    )
    frames = {"base": base, "new": base.assign(prediction=(base["prediction"] + change).clip(0, 1))}
    said, texts = compared(tmp_path, capsys, frames, "--fail-on", "fail", code=0)
    grouped = sigstats.compare(*frames.values(), groups="patient")
    assert grouped.verdict == "inconclusive"
    low, high = (f"{100 * end:+.2f}".replace("-", "−") for end in (grouped.rows[0].low, grouped.rows[0].high))
    doubt, advice = (
        f", but INCONCLUSIVE in groups by 'patient' ({low} to {high})",
        "Repeat with these groups (--group). ",
    )
    headline = said.splitlines()[0]
    assert headline.startswith("PASS: no regression; ")
    assert headline.endswith(doubt)
    content = json.loads(texts["json"])
    assert content["verdict"] == "pass"
    assert content["answer"]["headline"] == headline
    assert plain(texts["md"]).startswith(f"### {headline} {advice}")
    assert ET.fromstring(texts["xml"]).get("name") == headline
    assert html.unescape(re.search("<title>(.*?)</title>", texts["html"])[1]).endswith(doubt)
    assert all(advice in text for text in (said, texts["json"], texts["xml"], plain(texts["html"])))
    several = frames | {"other": base.assign(prediction=base["prediction"] * (rng.random(1500) < 0.6))}
    said, _ = compared(tmp_path, capsys, several, code=1)
    assert said.splitlines()[0].removesuffix(".").endswith(doubt)


@pytest.mark.long
def test_every_output_begins_with_the_test_that_decides(tmp_path, capsys):
    frames = costs()
    said, texts = compared(tmp_path, capsys, frames, "--lower-is-better", "cost_usd", code=1)
    found = sigstats.compare(frames["base"], frames["new"], lower_is_better="cost_usd")
    headline, advice = found.answer.headline, found.answer.advice
    ratio = "300% of the baseline"
    assert re.fullmatch(
        rf"FAIL: mean cost_usd on all rows rose by 0\.0030\d USD \(0\.003.* to 0\.003.*\), {ratio}", headline
    )
    assert advice == "Keep the baseline."
    assert said.splitlines()[:2] == [headline, advice]
    assert str(found).splitlines()[0] == headline
    assert advice in str(found).splitlines()
    assert f"<strong>{headline}</strong>" in found._repr_html_()
    assert plain(texts["md"]).startswith(f"### {headline} {advice} ")
    assert ET.fromstring(texts["xml"]).get("name") == headline
    content = json.loads(texts["json"])
    assert content["answer"]["headline"] == headline
    assert content["answer"]["advice"] == advice
    assert content["answer"]["row"] == next(row for row in content["rows"] if row["score"] == "cost_usd")
    page = texts["html"]
    finding = headline.removeprefix("FAIL: ")
    assert html.unescape(re.search("<title>(.*?)</title>", page)[1]) == f"FAIL: {finding[0].upper()}{finding[1:]}"
    assert advice in page
    assert page.count("mean cost_usd on all rows</span>") == 2  # the tiles
    with pytest.raises(AssertionError) as raised:
        sigstats.assert_no_regression(frames["base"], frames["new"], lower_is_better="cost_usd")
    assert str(raised.value).splitlines() == [headline, advice]
    # No output states of these costs that they are not shown to be lower, or of the candidate that it is not worse.
    for text in (said, *texts.values()):
        assert "not worse, but" not in text
    # Both figures begin with the row that decides.
    assert texts["md"].index("mean-score of cost_usd: intervals") < texts["md"].index("points: intervals")
    figures = re.findall(r"candidate − baseline, ([^<]*)<", page)
    assert figures == ["mean-score of cost_usd", "points"]


def test_the_chart_of_many_slices_contains_the_test_that_decides(tmp_path, capsys):
    n, part = 6000, np.arange(6000) % 40
    base = pd.DataFrame({"id": range(n), "label": 1, "prediction": 1, "part": part})
    new = base.assign(prediction=np.where(np.arange(n) // 40 < 30 + part, 0, 1))  # all fail, with equal p at the end
    said, texts = compared(tmp_path, capsys, {"base": base, "new": new}, "--slice", "part", code=1)
    content = json.loads(texts["json"])
    decides = content["answer"]["row"]
    assert said.startswith(f"FAIL: accuracy on {decides['slice']} fell by ")
    chart = re.search(r"x-axis \[(.*)\]", texts["md"])[1]
    assert json.loads(f"[{chart}]")[1] == decides["slice"]


def test_advice_tells_better_from_worse_somewhere_and_from_not_shown_to_be_safe(tmp_path, capsys):
    frames = gains()
    unsafe = sigstats.compare(frames["base"], frames["gain"], slices=["region"])
    assert (unsafe.verdict, unsafe.answer.row.slice) == ("inconclusive", "region = c")
    assert unsafe.answer.headline.startswith("INCONCLUSIVE: accuracy on all rows rose by ")
    assert unsafe.answer.headline.endswith("accuracy on region = c fell by 1.00 points (−4.68 to +2.46)")
    assert re.fullmatch(
        r"The candidate is better on all rows, but not shown to be safe on region = c\. "
        r"Test more rows there: about [\d,]+ rows with the same rates would settle it \(200 now\)\.",
        unsafe.answer.advice,
    )
    assert "Keep the baseline" not in str(unsafe)
    worse = sigstats.compare(frames["base"], frames["mixed"], slices=["region"])
    assert worse.answer.advice.startswith("Keep the baseline. Look at region = d first")
    assert worse.answer.headline.startswith("FAIL: accuracy on region = d fell by 25.00 points (")
    ((label, words),) = worse.answer.also
    assert label == "Better:"
    assert words.startswith("accuracy on all rows rose by ")
    better = sigstats.compare(frames["base"], frames["gain"])
    assert better.answer.headline.startswith("PASS: no regression; accuracy on all rows rose by ")
    assert better.answer.advice == "Replace the baseline: the candidate is better, and worse nowhere."


def test_a_pass_of_a_candidate_that_is_shown_to_be_worse_states_it():
    """14 of 200 rows became wrong and 3 right: an interval below 0, within a margin that was stated."""
    y, wrong = np.zeros(200, dtype=np.int64), np.arange(200)
    rule = sigstats.ComparisonRule(minimum_effect="6pt", margin="15pt")
    worse = sigstats.compare(y, (wrong < 3) * 1, ((wrong > 2) & (wrong < 17)) * 1, rule=rule)
    (row,) = worse.rows
    assert (worse.verdict, row.high < 0) == ("pass", True)
    words = "accuracy on all rows is worse by less than the margin of 15 points."
    assert worse.answer.advice == f"You may replace the baseline: {words}"
    equal = sigstats.compare(y, (wrong < 3) * 1, (wrong > 196) * 1, rule=rule)
    assert equal.answer.advice.endswith("the candidate is not worse, and not shown to be better.")


def test_of_several_candidates_figure_words_and_table_name_the_same_tests(tmp_path, capsys):
    frames = gains()
    said, texts = compared(tmp_path, capsys, frames, "--slice", "region", code=1)
    content = json.loads(texts["json"])
    assert content["take"] is None
    first = "accuracy on region = c fell by 1.00 points (−4.68 to +2.46)"
    second = "accuracy on region = d fell by 25.00 points ("
    assert content["recommendation"].startswith(f"Test {tmp_path}/gain.csv on more rows before you take it: ")
    assert content["recommendation"].endswith(first)
    assert said.startswith(f"{content['recommendation']}.\n")
    assert [each["answer"]["row"]["slice"] for each in content["candidates"]] == ["region = c", "region = d"]
    page = plain(texts["html"])
    assert f"Undecided: {tmp_path}/gain.csv: {first}" in page
    assert f"Worse: {tmp_path}/mixed.csv: {second}" in page
    assert "the lowest is −25.00 points" in texts["html"]
    assert plain(texts["md"]).count(second) == 1
    chart = re.search(r"x-axis \[(.*)\]", texts["md"])[1]
    assert len(json.loads(f"[{chart}]")) == 4


def test_a_history_states_the_answer_of_the_evaluation(tmp_path):
    frames = gains()
    for name in ("base", "gain"):
        frames[name].to_csv(tmp_path / f"{name}.csv", index=False)
    study = {"kind": "regression", "name": "nightly", "baseline": str(tmp_path / "base.csv")}
    study |= {"candidate": str(tmp_path / "gain.csv"), "slices": ["region"]}
    sigstats.run_study(study, output=tmp_path / "out", quiet=True)
    (content,) = (json.loads(path.read_text()) for path in (tmp_path / "out/comparisons").glob("*.json"))
    report = plain((tmp_path / "out/report.html").read_text())
    assert content["answer"]["advice"] in report
    headline = content["answer"]["headline"].removeprefix("INCONCLUSIVE: ")
    assert f"INCONCLUSIVE: {headline[0].upper()}{headline[1:]}" in report
