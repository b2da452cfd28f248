import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sigstats.multiplicity import spent_level

SHARED = ("linear", "pocock", "obrien-fleming")


@pytest.mark.parametrize("spending", SHARED)
@settings(deadline=None, derandomize=True)
@given(looks=st.integers(1, 60), alpha=st.floats(1e-6, 0.49))
def test_all_looks_together_spend_the_level_and_no_more(spending, looks, alpha):
    levels = [spent_level(look, alpha=alpha, spending=spending, looks=looks) for look in range(1, looks + 3)]
    assert math.fsum(levels) == pytest.approx(alpha, rel=1e-9)
    assert all(level >= 0 for level in levels)
    assert levels[looks:] == [0.0, 0.0]


def test_the_series_needs_no_end():
    levels = [spent_level(look, alpha=0.1) for look in range(1, 20_001)]
    assert levels == sorted(levels, reverse=True)
    # the rest of the sum of 1 / k**2 beyond n lies between 1 / (n + 1) and 1 / n
    rest = 0.1 * 6 / math.pi**2
    assert 0.1 - rest / 20_000 < math.fsum(levels) < 0.1 - rest / 20_001


@pytest.mark.parametrize(
    ("spending", "spent"),
    [
        # Lan and DeMets at half of the information, one-sided level 0.025, as books print it.
        ("obrien-fleming", 0.0015),
        ("pocock", 0.0155),
    ],
)
def test_half_of_the_looks_spend_what_is_published(spending, spent):
    assert spent_level(1, alpha=0.025, spending=spending, looks=2) == pytest.approx(spent, abs=5e-5)


def test_each_look_may_have_all():
    assert [spent_level(look, alpha=0.05, spending="each") for look in (1, 2, 100)] == [0.05] * 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"look": 0}, "look: 0 is not valid; expected"),
        ({"look": 1.5}, "look: 1.5 is not valid"),
        ({"look": 1, "alpha": 1.0}, "alpha: 1.0 is not valid"),
        ({"look": 1, "alpha": math.nan}, "alpha: nan is not valid"),
        ({"look": 1, "spending": "pocok"}, "did you mean 'pocock'"),
        ({"look": 1, "spending": "linear"}, "looks: None is not valid; expected the number of looks"),
        ({"look": 1, "spending": "linear", "looks": 0}, "looks: 0 is not valid"),
    ],
)
def test_bad_input_is_one_line(arguments, message):
    with pytest.raises(ValueError, match="not valid") as caught:
        spent_level(**arguments)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
