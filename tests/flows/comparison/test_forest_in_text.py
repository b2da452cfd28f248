"""The forest plot in characters: every sign stands where the numbers say, to half a column."""

import numpy as np
import pytest

import sigstats
from sigstats.flows.comparison.forest_plot import forest_in_text
from sigstats.flows.comparison.markdown import as_markdown


@pytest.fixture(scope="module")
def found():
    rng = np.random.default_rng(11)
    y = rng.integers(0, 2, 400)
    a, b = (np.where(rng.random(400) < share, y, 1 - y) for share in (0.85, 0.78))
    return sigstats.compare(y, a, b, slices={"part": np.repeat(["first", "second`s", "third\nline", "@all"], 100)})


def test_signs_stand_where_the_numbers_say(found):
    rows, margin = found.ranked, found.rule.margin
    *lines, axis = forest_in_text(rows, margin).splitlines()
    assert len(lines) == len(rows)
    start = max(len(" ".join(row.slice.split())) for row in rows) + 1
    low = min(-margin, *(row.low for row in rows))
    high = max(margin, *(row.high for row in rows))
    for line, row in zip(lines, rows, strict=True):
        drawn = line[start:]
        expected = {"├": row.low, "●": row.difference, "┤": row.high}
        for sign, value in expected.items():
            assert abs(drawn.index(sign) - 40 * (value - low) / (high - low)) <= 0.5
    assert axis.index("0", start) >= start
    assert axis.endswith("points")


def test_markdown_has_the_picture_and_no_name_leaves_it(found):
    text = as_markdown(found, "a.csv", "b.csv")
    _, picture, _ = text.split("```")
    assert picture.startswith("text\n")
    assert picture.count("●") == len(found.rows)
    assert "part = third line" in picture
