"""How many digits of the reference set R has right, by the tests of its package stats.

python -m tools.r_digits

It needs Rscript on the path. Every case is one call, which is written as it is here; R prints 17 digits.
"""

import json
import math
import statistics
import subprocess
import sys
from collections.abc import Callable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from sigstats.flows.commands.verify import correct_digits

FOLDER = Path(__file__).parents[1] / "sigstats" / "reference_set"
#: The names of R for the alternatives.
_TWO_SIDED = "two.sided"
Call = Callable[[dict[str, Any]], str | None]


def vector(values: Sequence[float]) -> str:
    """A vector of R."""
    return f"c({', '.join(map(repr, values))})"


def matrix(rows: Sequence[Sequence[float]]) -> str:
    """A matrix of R, row by row."""
    return f"matrix({vector([each for row in rows for each in row])}, nrow = {len(rows)}, byrow = TRUE)"


def side(given: dict[str, Any]) -> str:
    """The alternative, as an argument."""
    return f'alternative = "{given.get("alternative", "two-sided").replace("two-sided", _TWO_SIDED)}"'


def binomial(given: dict[str, Any]) -> str | None:
    """McNemar's exact test of the discordant pairs."""
    a, n = given["only_a"], given["only_a"] + given["only_b"]
    return f"binom.test({a}, {n}, {side(given)})$p.value" if given["method"] == "exact" and n else None


def proportion(given: dict[str, Any]) -> str | None:
    """Clopper and Pearson's limits."""
    k, n, level = given["successes"], given["n"], given["confidence_level"]
    return f"binom.test({k}, {n}, conf.level = {level!r})$conf.int" if n else None


def fisher(given: dict[str, Any]) -> str | None:
    """Fisher's test, and Freeman and Halton's of more classes."""
    if given["method"] != "exact":
        return None
    return f"fisher.test({matrix([given['counts_a'], given['counts_b']])}, workspace = 2e7)$p.value"


def pearson(given: dict[str, Any]) -> str | None:
    """Pearson's chi-square of two samples."""
    if given["method"] != "chi2":
        return None
    return f"chisq.test({matrix([given['counts_a'], given['counts_b']])}, correct = FALSE)$p.value"


def required(given: dict[str, Any]) -> str | None:
    """Pearson's chi-square of required probabilities."""
    if given["method"] != "chi2":
        return None
    return f"chisq.test({vector(given['counts'])}, p = {vector(given['probabilities'])})$p.value"


def signed_ranks(given: dict[str, Any]) -> str | None:
    """Wilcoxon's test; with ties or zeros R takes the normal law, whatever is asked."""
    if not any(given["differences"]) or given["zero_method"] != "wilcox":
        return None
    return f"wilcox.test({vector(given['differences'])}, exact = TRUE, correct = FALSE, {side(given)})$p.value"


def friedman(given: dict[str, Any]) -> str | None:
    """Friedman's chi-square."""
    return f"friedman.test({matrix(given['scores'])})$p.value" if given["method"] == "chi2" else None


def means(given: dict[str, Any]) -> str | None:
    """Student's t of rows."""
    if "groups" in given:
        return None
    return f"t.test({vector(given['score_a'])}, {vector(given['score_b'])}, paired = TRUE, {side(given)})$p.value"


def posterior(given: dict[str, Any]) -> str | None:
    """The incomplete beta function."""
    prior = given.get("prior", 1.0)
    return f"pbeta(0.5, {given['only_b'] + prior!r}, {given['only_a'] + prior!r})"


CALLS: list[tuple[str, str, Call]] = [
    ("mcnemar_test", "binom.test", binomial),
    ("pair_probability", "pbeta", posterior),
    ("clopper_pearson", "binom.test(...)$conf.int", proportion),
    ("homogeneity_test", "fisher.test", fisher),
    ("homogeneity_test", "chisq.test", pearson),
    ("goodness_of_fit_test", "chisq.test", required),
    ("signed_rank_test", "wilcox.test(exact = TRUE)", signed_ranks),
    ("friedman_test", "friedman.test", friedman),
    ("mean_score_test", "t.test(paired = TRUE)", means),
]


def answers(calls: Sequence[str]) -> list[list[float]]:
    """What R gives for each call; nothing where it stops."""
    lines = [
        f'cat(tryCatch(sprintf("%.17g", suppressWarnings({call})), error = function(e) "error"), "\\n")'
        for call in calls
    ]
    done = subprocess.run(
        ["Rscript", "--vanilla", "-"], input="\n".join(lines), capture_output=True, text=True, check=True
    )
    return [[float(each) for each in line.split() if each != "error"] for line in done.stdout.splitlines()]


def digits(test: str, call: Call) -> list[float]:
    """The digits of each case that R answers, the fewest over its values; 0 where it stops."""
    cases = json.loads((FOLDER / f"{test}.json").read_text(encoding="utf-8"))["cases"]
    asked = [(case, text) for case in cases if (text := call(case["arguments"])) is not None]
    found = []
    for (case, _), values in zip(asked, answers([text for _, text in asked]), strict=True):
        certified = [Decimal(value["digits"]) for value in case["values"].values()]
        right = len(values) == len(certified) and not any(map(math.isnan, values))
        found.append(min(map(correct_digits, values, certified)) if right else 0.0)
    return found


def main() -> int:
    """Print the table of the page."""
    try:
        said = subprocess.run(["Rscript", "--version"], capture_output=True, text=True, check=True)
    except FileNotFoundError:
        print("Rscript: not found; expected R on the path", file=sys.stderr)
        return 2
    print((said.stdout or said.stderr).strip())
    print("| test | by | cases | fewest digits | median |\n|---|---|---|---|---|")
    for test, name, call in CALLS:
        found = digits(test, call)
        print(f"| `{test}` | R {name} | {len(found)} | {min(found):.1f} | {statistics.median(found):.1f} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
