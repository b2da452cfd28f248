"""Parts of a study: together they are the study, and no lane belongs to two of them."""

import numpy as np
import pytest

from sigstats.flows.running.options import Part

from ...cells import a_cell


def cell_of(number, lanes, stops):
    stopping = {"rule": "besag-clifford", "exceedances": 5} if stops else None
    of = {"work": {"number": number}, "subject": {"number": str(number)}}
    return a_cell(replicates=10 * lanes, lane_size=10, stopping=stopping, **of)


def drawn(seed):
    """Some cells, and a number of parts."""
    rng = np.random.default_rng(seed)
    sizes = zip(rng.integers(1, 41, 8), rng.random(8) < 0.5, strict=True)
    return [cell_of(number, int(lanes), stops) for number, (lanes, stops) in enumerate(sizes)], int(rng.integers(1, 61))


@pytest.mark.parametrize("seed", range(8))
def test_every_lane_belongs_to_one_part(seed):
    cells, total = drawn(seed)
    parts = [Part(number, total).lanes(cells) for number in range(1, total + 1)]
    for cell in cells:
        dealt = [lane for part in parts for lane in range(*part.get(cell.name, (0, 0)))]
        assert sorted(dealt) == list(range(cell.lanes))
        if cell.stopping is not None:
            assert sum(cell.name in part for part in parts) == 1


@pytest.mark.parametrize("seed", range(8))
def test_parts_are_about_equal(seed):
    cells, total = drawn(seed)
    plain = [cell for cell in cells if cell.stopping is None]
    sizes = [
        sum(last - first for first, last in Part(number, total).lanes(plain).values()) for number in range(1, total + 1)
    ]
    # Each cell is divided evenly, and those with few lanes go round.
    assert max(sizes) - min(sizes) <= len(plain) + 1


@pytest.mark.parametrize(
    ("part", "expected"),
    [("0/4", "1/4 to 4/4"), ("5/4", "1/4 to 4/4"), ("3", "K/N, as in 1/4"), ("1/0", "K/N"), ("-1/4", "K/N")],
)
def test_another_part_is_refused_in_one_line(part, expected, tmp_path, refused):
    (line,) = refused("run", "hryniewicz", "--output", tmp_path / "out", f"--part={part}").splitlines()
    assert f"--part: '{part}' is not valid; expected {expected}" in line
    assert not (tmp_path / "out").exists()
