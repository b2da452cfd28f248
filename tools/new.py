"""Write the files of a new part and its entries in all lists, so that `make check` passes from the start.

    python -m tools.new test|measure|reader|figure|kind NAME

What is written works under the new name, to be replaced: the module, its tests, and what names it. Of a public test
these are its place in the layers, the public names, the pages, the fuzz and the seeds; a reader is of data sets, a
figure of a benchmark's page. It prints what is left to do.
"""

import argparse
import re
import subprocess
import sys
from collections.abc import Callable
from functools import partial, reduce
from pathlib import Path

from .new_parts import FIGURE, KIND, MEASURE, READER

ROOT = Path(__file__).parents[1]
PARTS = {"figure": FIGURE, "kind": KIND, "measure": MEASURE, "reader": READER}

_MODULE = '''"""TITLE: the question in a sentence.

When not to use: the cases, and the function to use in each.
"""

from dataclasses import dataclass

from scipy.stats import binomtest

from ._common.extreme import error_bound
from ._common.validation import as_count, as_real
from .test_result import TestResult


@dataclass(frozen=True, kw_only=True)
class RESULT(TestResult):
    """The result of `NAME`.

    Attributes
    ----------
    statistic : int
        The number of successes.
    """

    _question = "TITLE: is the probability of a success the stated one?"
    _null = "it is"

    statistic: int


def NAME(successes: int, n: int, *, probability: float = 0.5) -> RESULT:
    """Test whether a success has a given probability.

    Null hypothesis: the n trials are independent, and each is a success with this probability.

    Parameters
    ----------
    successes, n : int
        The number of successes, and of all trials.
    probability : float
        The probability of a success under the null hypothesis.

    Returns
    -------
    RESULT

    Raises
    ------
    ValueError
        If a count is negative or fractional, or the probability is out of range.

    Notes
    -----
    When not to use: trials that depend on each other.

    References
    ----------
    Clopper and Pearson, Biometrika 26 (1934).

    Examples
    --------
    >>> import sigstats
    >>> sigstats.NAME(1, 5).pvalue
    0.375
    """
    total = as_count(n, "n", minimum=1)
    count = as_count(successes, "successes", maximum=total)
    p = float(binomtest(count, total, as_real(probability, "probability", low=0, high=1, open_ends=True)).pvalue)
    return RESULT(
        statistic=count, pvalue=p, method="exact", alternative="two-sided", error_bound=error_bound(p, 1e-9)
    )
'''

_TESTS = '''"""TITLE against enumeration, and at the ends of its range."""

from math import comb

import pytest

import sigstats


@pytest.mark.parametrize("successes", range(6))
def test_pvalues_are_those_of_all_outcomes(successes):
    chances = [comb(5, k) / 32 for k in range(6)]
    expected = sum(chance for chance in chances if chance <= chances[successes])
    assert sigstats.NAME(successes, 5).pvalue == pytest.approx(expected, rel=1e-12)


def test_bad_input_is_named():
    with pytest.raises(ValueError, match=r"^successes: 6"):
        sigstats.NAME(6, 5)
'''

_LEFT = """left to do, of {name}:
  1. sigstats/{name}.py: the formula, its docstring and its reference
  2. tests/sigstats/test_{name}.py: values of the paper or of another program
  3. docs/methods.md: the question of its row, and its place
  4. `python -m tools.made_pages`, `make check`; a reference set of exact values is `tools/reference_set/{name}.py`
"""


def write_test(name: str) -> None:
    """Write a public function of its own module, and what names it."""
    if not re.fullmatch(r"[a-z][a-z0-9_]*_test", name) or (ROOT / "sigstats" / f"{name}.py").exists():
        raise SystemExit(f"NAME: {name!r} is not valid; expected a new name such as 'marginal_test'")
    title = name.removesuffix("_test").replace("_", " ").capitalize() + " test"
    result = "".join(map(str.capitalize, name.removesuffix("_test").split("_"))) + "Result"
    for template, place in ((_MODULE, f"sigstats/{name}.py"), (_TESTS, f"tests/sigstats/test_{name}.py")):
        text = template.replace("NAME", name).replace("RESULT", result).replace("TITLE", title)
        (ROOT / place).write_text(text, encoding="utf-8")
    _add("pyproject.toml", "efficiency | ", f"efficiency | {name} | ")
    _add("sigstats/__init__.pyi", "\n__version__: str", f"from .{name} import {name} as {name}\n\n__version__: str")
    _add(
        "sigstats/results.pyi",
        "from .efficiency import",
        f"from .{name} import {result} as {result}\nfrom .efficiency import",
    )
    for new, old in ((name, "mcnemar_test"), (result, "McNemarResult")):
        _add("docs/reference.md", f"- [`{old}`]", f"- [`{new}`]\n- [`{old}`]")
    _add("docs/seeds.md", "| same to rounding | ", f"| same to rounding | `{name}`, ")
    _add(
        "docs/methods.md",
        "| Do two error rates, or detection costs",
        f"| {title}: the question? | its data | [`{name}`](reference.md) |\n| Do two error rates, or detection costs",
    )
    _add(
        "tools/seed_levels.py",
        '    "number_correct": ',
        f'    "{name}": lambda: sigstats.{name}(3, 10),\n    "number_correct": ',
    )
    _add(
        "tests/sigstats/test_public_fuzz.py",
        '    "read_predictions": [',
        f'    "{name}": [(sigstats.{name}, {{"successes": 3, "n": 10, "probability": 0.4}})],\n'
        '    "read_predictions": [',
    )
    _finish("sigstats", "tools", "tests/sigstats")
    print(_LEFT.format(name=name), end="")


def write_part(kind: str, name: str) -> None:
    """Write a part of `tools.new_parts`: its files, and its entries in lists."""
    part = PARTS[kind]
    if not re.fullmatch(part.pattern, name):
        raise SystemExit(f"NAME: {name!r} is not valid; expected a name such as {part.example!r}")
    under = re.sub(r"\W", "_", name)

    words = {
        "TITLEStudy": f"{under.title()}Study",
        "TITLE": under.replace("_", " ").capitalize(),
        "UNDER": under,
        "DASHED": under.replace("_", "-"),
        "NAME": name,
    }

    def named(text: str) -> str:
        return reduce(lambda text, word: text.replace(word, words[word]), words, text)

    files = {ROOT / named(place): named(text) for place, text in part.files.items()}
    for path in files:
        if path.exists():
            raise SystemExit(f"NAME: {name!r} is taken: {path.relative_to(ROOT)} exists")
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for file, old, new in part.entries:
        _add(file, old, named(new))
    _finish("sigstats", "tasks", "flows", "tests")
    lines = [f"left to do, of {name}:", *map(named, part.left), "`python -m tools.result_columns`, `make check`"]
    print("\n  ".join(lines))


def _finish(*folders: str) -> None:
    for command in (["ruff", "check", "--fix", "--quiet"], ["ruff", "format", "--quiet"]):
        subprocess.run([sys.executable, "-m", *command, *folders], cwd=ROOT, check=True)
    subprocess.run([sys.executable, "-m", "tools.made_pages"], cwd=ROOT, check=True)


def _add(file: str, old: str, new: str) -> None:
    """Replace the first place of a text in a file, which must contain it."""
    path = ROOT / file
    text = path.read_text(encoding="utf-8")
    if old not in text:
        raise SystemExit(f"{file}: {old!r} was not found; tools/new.py adds an entry there")
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


#: What can be written.
KINDS: dict[str, Callable[[str], None]] = {"test": write_test} | {kind: partial(write_part, kind) for kind in PARTS}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tools.new", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("kind", choices=sorted(KINDS))
    parser.add_argument("name", help="such as marginal_test, markedness, ring, sorted_p_values, coin")
    options = parser.parse_args()
    KINDS[options.kind](options.name)
