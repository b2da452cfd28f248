"""How many digits of the reference set SciPy and statsmodels have right, where they have the test.

python -m tools.reference_digits
"""

import importlib.metadata
import json
import statistics
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import scipy.stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.proportion import proportion_confint

from sigstats.flows.commands.verify import correct_digits

FOLDER = Path(__file__).parents[1] / "sigstats" / "reference_set"
Answer = dict[str, float] | None


def binomial(given: dict[str, Any]) -> Answer:
    """McNemar's exact test is a binomial test of the discordant pairs."""
    a, n = given["only_a"], given["only_a"] + given["only_b"]
    if given["method"] != "exact" or n == 0:
        return None
    return {"pvalue": scipy.stats.binomtest(a, n, alternative=given["alternative"]).pvalue}


def paired(given: dict[str, Any]) -> Answer:
    """The exact test of statsmodels is two-sided."""
    if given["method"] != "exact" or given.get("alternative", "two-sided") != "two-sided":
        return None
    return {"pvalue": mcnemar([[0, given["only_a"]], [given["only_b"], 0]], exact=True).pvalue}


def fisher(given: dict[str, Any]) -> Answer:
    """Two classes: larger tables are drawn at random by SciPy."""
    table = [given["counts_a"], given["counts_b"]]
    return {"pvalue": scipy.stats.fisher_exact(table).pvalue} if len(table[0]) == 2 else None


def proportion(given: dict[str, Any]) -> Answer:
    """Clopper and Pearson's limits."""
    found = scipy.stats.binomtest(given["successes"], given["n"]).proportion_ci(given["confidence_level"])
    return {"low": found.low, "high": found.high}


def proportion_of_statsmodels(given: dict[str, Any]) -> Answer:
    """The same; its limits at 0 and at all are not a number where they should be 0 and 1."""
    low, high = proportion_confint(given["successes"], given["n"], alpha=1 - given["confidence_level"], method="beta")
    return {"low": float(np.nan_to_num(low, nan=0.0)), "high": float(np.nan_to_num(high, nan=1.0))}


def signed_ranks(method: str) -> Callable[[dict[str, Any]], Answer]:
    """Wilcoxon's test with one of SciPy's methods."""

    def run(given: dict[str, Any]) -> Answer:
        if not any(given["differences"]):
            return None
        found = scipy.stats.wilcoxon(
            given["differences"], zero_method=given["zero_method"], alternative=given["alternative"], method=method
        )
        return {"pvalue": found.pvalue}

    return run


def friedman(given: dict[str, Any]) -> Answer:
    """Friedman's chi-square."""
    if given["method"] != "chi2":
        return None
    return {"pvalue": scipy.stats.friedmanchisquare(*np.transpose(given["scores"])).pvalue}


def means(given: dict[str, Any]) -> Answer:
    """Student's t of rows."""
    if "groups" in given:
        return None
    return {
        "pvalue": scipy.stats.ttest_rel(given["score_a"], given["score_b"], alternative=given["alternative"]).pvalue
    }


PEERS: list[tuple[str, str, Callable[[dict[str, Any]], Answer]]] = [
    ("mcnemar_test", "scipy.stats.binomtest", binomial),
    ("mcnemar_test", "statsmodels mcnemar(exact=True)", paired),
    ("clopper_pearson", "scipy.stats.binomtest(...).proportion_ci", proportion),
    ("clopper_pearson", 'statsmodels proportion_confint(method="beta")', proportion_of_statsmodels),
    ("homogeneity_test", "scipy.stats.fisher_exact, two classes", fisher),
    ("signed_rank_test", "scipy.stats.wilcoxon", signed_ranks("auto")),
    ("signed_rank_test", 'scipy.stats.wilcoxon(method="exact")', signed_ranks("exact")),
    ("friedman_test", "scipy.stats.friedmanchisquare", friedman),
    ("mean_score_test", "scipy.stats.ttest_rel", means),
]


def digits(test: str, answer: Callable[[dict[str, Any]], Answer]) -> Iterator[float]:
    """The digits of each case that the peer answers, the fewest over its values."""
    for case in json.loads((FOLDER / f"{test}.json").read_text(encoding="utf-8"))["cases"]:
        with np.errstate(all="ignore"):
            found = answer(case["arguments"])
        if found is not None:
            values = {name: Decimal(value["digits"]) for name, value in case["values"].items()}
            yield min(correct_digits(float(found[name]), certified) for name, certified in values.items())


def main() -> None:
    """Print the table of the page."""
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in ("scipy", "statsmodels"))
    print(f"| test | by | cases | fewest digits | median |   ({versions})\n|---|---|---|---|---|")
    for test, name, answer in PEERS:
        found = list(digits(test, answer))
        print(f"| `{test}` | {name} | {len(found)} | {min(found):.1f} | {statistics.median(found):.1f} |")


if __name__ == "__main__":
    main()
