"""Former names work, warn once with the place that uses them, and stand on the page of releases."""

from pathlib import Path

import pytest

import sigstats
from sigstats._common.deprecated import MOVED

PAGE = (Path(__file__).parents[3] / "docs" / "releases.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", MOVED)
def test_a_former_name_of_the_package_works_and_warns(name):
    module, now, until = MOVED[name]
    with pytest.warns(
        DeprecationWarning, match=rf"^sigstats.{name} is now {module}.{now}; .* goes with {until}$"
    ) as told:
        former = getattr(sigstats, name)
    assert told[0].filename == __file__
    assert former.__name__ == now
    assert f"`{name}`" in PAGE or f"`sigstats.{name}`" in PAGE
