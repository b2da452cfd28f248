"""A type checker accepts the documented calls, and finds mistakes in others."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

CALLS = Path(__file__).parent / "typed_calls.py"


@pytest.mark.long
def test_mypy_finds_the_mistakes_and_nothing_else():
    program = [sys.executable, "-m", "mypy", "--config-file", "pyproject.toml", str(CALLS)]
    told = subprocess.run(program, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[2]).stdout
    found = {int(line) for line in re.findall(r"typed_calls\.py:(\d+): error", told)}
    lines = CALLS.read_text().splitlines()
    mistakes = {number for number, line in enumerate(lines, 1) if "# mistake" in line}
    assert found == mistakes, told
    assert len(mistakes) >= 5


def test_labels_that_are_missing_are_missed_by_name():
    import sigstats

    for test in (sigstats.mcnemar_test, sigstats.bootstrap_test, sigstats.accuracy_difference):
        with pytest.raises(TypeError, match=rf"^{test.__name__}.from_predictions\(\) missing 1 .* argument: 'b'$"):
            test.from_predictions([0, 1], [0, 1])
        assert "array_like, shape (n,)" in test.from_predictions.__doc__
