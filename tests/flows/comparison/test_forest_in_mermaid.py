"""The chart of a comparison in Markdown: bars end where the numbers say, and no name leaves its quotes."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sigstats
from sigstats.flows.comparison.forest_plot import forest_in_mermaid
from sigstats.flows.comparison.markdown import as_markdown


@pytest.fixture(scope="module")
def found():
    rng = np.random.default_rng(11)
    y = rng.integers(0, 2, 400)
    a, b = (np.where(rng.random(400) < share, y, 1 - y) for share in (0.85, 0.78))
    return sigstats.compare(y, a, b, slices={"part": ["first", "second`s", "third\nline", "@all"] * 100})


def test_an_interval_is_what_the_bars_leave_to_be_seen(found):
    (chart,) = forest_in_mermaid(found.ranked)
    bars, lines = (
        [json.loads(each) for each in re.findall(rf"^  {kind} (.*)", chart, re.M)] for kind in ("bar", "line")
    )
    start, end = map(float, re.search(r"y-axis (\S+) --> (\S+)", chart).groups())
    for number, row in enumerate(found.ranked, start=1):
        # Each bar covers those before it: one colour for each end, and the paper last.
        ends = [bar[number] for bar in bars if bar[number] != start]
        assert ends == pytest.approx([100 * value for value in (row.high, row.difference, row.low)], rel=1e-5)
        assert start < ends[2] <= ends[1] <= ends[0] < end
    assert [set(line) for line in lines] == [{0.0}, {-100 * found.rule.margin}]
    assert {len(each) for each in (*bars, *lines)} == {len(found.ranked) + 2}
    colours = re.search(r"plotColorPalette: '([^']*)'", chart)[1].split(", ")
    assert len(colours) == len(bars) + len(lines)


def test_markdown_has_the_chart_where_it_is_drawn(found):
    _, chart, _ = as_markdown(found, "a.csv", "b.csv").split("```")
    assert chart.startswith("mermaid\n---\n")
    assert '"part = third line"' in chart
    assert "```" not in as_markdown(found, "a.csv", "b.csv", picture=False)


@pytest.mark.long
@given(st.lists(st.text(min_size=1).filter(str.strip), min_size=2, max_size=4, unique=True))
def test_no_name_ends_its_string_and_no_two_are_one(found, names):
    rows = [replace(row, slice=f"part = {name}") for row, name in zip(found.ranked, names, strict=False)]
    (chart,) = forest_in_mermaid(rows)
    labels = json.loads(re.search(r"x-axis (.*)", chart)[1])
    assert len(set(labels)) == len(rows) + 2
    assert not re.search(r"[\"`#;%<>\\]", "".join(labels))
