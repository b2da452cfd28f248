"""Former names work, warn once with the place that uses them, and stand on the page of releases."""

from pathlib import Path

import pytest

import sigstats
from sigstats._common.calls import MOVED, renamed

PAGE = (Path(__file__).parents[3] / "docs" / "releases.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", MOVED)
def test_a_former_name_of_the_package_works_and_warns(name):
    module, now, until = MOVED[name]
    with pytest.warns(
        DeprecationWarning, match=rf"^sigstats.{name} is now {module}.{now}; .* removed in {until}$"
    ) as told:
        former = getattr(sigstats, name)
    assert told[0].filename == __file__
    assert former.__name__ == now
    assert f"`{name}`" in PAGE or f"`sigstats.{name}`" in PAGE


@pytest.mark.parametrize(
    ("call", "former", "now"),
    [
        (
            lambda **given: sigstats.paired_sample_size(only_a=0.1, only_b=0.05, **given),
            {"target": 0.5},
            {"power": 0.5},
        ),
        (lambda **given: sigstats.detectable_difference(500, 0.15, **given), {"target": 0.5}, {"power": 0.5}),
        (
            lambda **given: sigstats.compare([0, 1] * 9, **given).verdict,
            {"prediction_a": [0, 1] * 9, "prediction_b": [0, 0] * 9},
            {"baseline": [0, 1] * 9, "candidate": [0, 0] * 9},
        ),
    ],
)
def test_a_former_name_of_a_parameter_works_and_warns(call, former, now):
    with pytest.warns(DeprecationWarning, match="the former name will be removed in 0.3") as told:
        assert call(**former) == call(**now)
    assert len(told) == len(former)
    assert all(warning.filename == __file__ for warning in told)
    assert all(f"{name}=" in PAGE for name in former)
    with pytest.raises(TypeError, match="its former name"):
        call(**former, **now)


def test_a_function_keeps_its_signature():
    @renamed("9.9", old="new")
    def twice(new: int) -> int:
        """Double."""
        return 2 * new

    assert twice(3) == twice(new=3) == 6
    assert twice.__doc__ == "Double."
