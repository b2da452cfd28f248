"""What a seed gives here, and how much of it another installation gives too.

python -m tools.seed_levels --write here.json             # one call of every public name, and the studies
python -m tools.seed_levels --against there.json here.json   # the table of docs/seeds.md: what held, name by name

The files hold every number of every answer. Two answers have the same bytes; or the same decisions (all counts, ranks,
verdicts and labels), with other numbers to nine digits, which is the same to rounding too; or they follow the same law
at most. The exit code is 1 where an answer has less than docs/seeds.md promises.
"""

import argparse
import importlib.metadata
import json
import math
import os
import platform
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

import sigstats
from sigstats.proportions import dcf_test, proportion_test
from sigstats.ranking.rank_sets import rank_sets

LEVELS = ("same bytes", "same decisions", "same to rounding", "same law")
#: Numbers that agree to so much are the same to rounding.
_DIGITS = 1e-9

TABLE = [[9, 7, 3], [15, 17, 13], [3, 7, 28]]
SCORES = [[0.9, 0.8, 0.7], [0.8, 0.7, 0.7], [0.95, 0.9, 0.6], [0.7, 0.75, 0.5]]
Y = [1, 0, 1, 1, 0, 0, 1, 0, 1, 1, 0, 1]
A = [1, 0, 1, 0, 0, 0, 1, 1, 1, 1, 0, 1]
B = [1, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1]
REAL = [0.31, -0.12, 0.44, 0.08, -0.21, 0.17, 0.29, 0.05, -0.03, 0.23]
FUZZY = [[1, 0]] * 6 + [[1, 0.3]]
FEATURES = [[(7 * i * j + 3 * i) % 11 / 11 + (i % 2) * 0.3 for j in range(3)] for i in range(24)]


def outcomes() -> Any:
    """Counts of rows by what two classifiers did with them."""
    return sigstats.JointOutcomes.from_predictions(Y, A, B, positive=1)


def frames() -> tuple[Any, Any]:
    """Predictions of two models, as data frames."""
    import pandas as pd

    rows = {"id": range(len(Y) * 20), "label": Y * 20}
    return pd.DataFrame({**rows, "prediction": A * 20}), pd.DataFrame({**rows, "prediction": B * 20})


def table_of_scores() -> Any:
    """Four models on sixty rows."""
    return np.array([[(3 * i + 5 * j * j) % 7 < 5 - j for j in range(4)] for i in range(60)])


def read() -> Any:
    """A file of predictions that is written and read."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "predictions.csv"
        frames()[0].to_csv(path, index=False)
        return sigstats.read_predictions(path)


def study(**content: Any) -> Any:
    """Every number of the replicates and the summary of a study."""
    import pandas as pd

    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "output"
        sigstats.run_study({"seed": 7, **content}, output=output, cluster="serial")
        files = sorted([*(output / "replicates").rglob("*.parquet"), *output.glob("summary.parquet")])
        return [pd.read_parquet(path).astype(object).to_dict("list") for path in files]


CLASSES = {"name": "10 classes", "source": "sturm", "classes": 10, "right": [0.0, 0.1]}
LEARNED = {"kind": "benchmark", "datasets": ["iris"], "permutation": {"resamples": 20}}

#: What is called, by the name that docs/seeds.md promises something of.
CALLS: dict[str, Callable[[], Any]] = {
    "judged_test": lambda: sigstats.judged_test(A, B, Y, [*B[:6], *[None] * 6]),
    "unpaired_test": lambda: sigstats.unpaired_test(A, B),
    "anytime_test": lambda: [
        sigstats.anytime_test([1, -1, 0], counts=[32, 9, 559]),
        sigstats.anytime_test(REAL, limit=10, alternative="greater"),
    ],
    "mcnemar_test": lambda: [
        sigstats.mcnemar_test(9, 5),
        sigstats.mcnemar_test(2600, 1000),
        sigstats.mcnemar_test(7, 1, method="chi2"),
        sigstats.mcnemar_test(7, 1, method="unconditional", n=100),
    ],
    "sign_flip_test": lambda: [sigstats.sign_flip_test([3, 2, 0, 1, -1, 2]), sigstats.sign_flip_test(REAL * 5)],
    "sign_flip_test, drawn": lambda: sigstats.sign_flip_test(REAL, method="monte-carlo", n_resamples=999, rng=1),
    "signed_rank_test": lambda: sigstats.signed_rank_test(REAL),
    "joint_tasks_test": lambda: sigstats.joint_tasks_test([9, 4, 12], [3, 2, 4], [150, 60, 200], rng=1),
    "stratified_paired_test": lambda: sigstats.stratified_paired_test([9, 4, 12], [3, 2, 4], [150, 60, 200]),
    "friedman_test": lambda: [sigstats.friedman_test(SCORES, method=each) for each in ("exact", "f", "chi2")],
    "friedman_test, drawn": lambda: sigstats.friedman_test(SCORES, method="monte-carlo", n_resamples=999, rng=1),
    "efficiency_test": lambda: [
        sigstats.efficiency_test(TABLE),
        sigstats.efficiency_test((20 * np.array(TABLE)).tolist()),
    ],
    "efficiency_test, drawn": lambda: sigstats.efficiency_test(TABLE, method="monte-carlo", n_resamples=999, rng=1),
    "homogeneity_test": lambda: [
        sigstats.homogeneity_test([55, 48, 112, 90, 141], [46, 55, 86, 84, 175], method=each)
        for each in ("exact", "chi2")
    ],
    "homogeneity_test, drawn": lambda: sigstats.homogeneity_test(
        [5, 8], [9, 2], method="monte-carlo", n_resamples=999, rng=1
    ),
    "goodness_of_fit_test": lambda: [
        sigstats.goodness_of_fit_test([15, 30, 50, 5], [0.2, 0.3, 0.49, 0.01], method=each)
        for each in ("exact", "chi2")
    ],
    "goodness_of_fit_test, drawn": lambda: sigstats.goodness_of_fit_test(
        [15, 30, 50], [0.2, 0.3, 0.5], method="monte-carlo", n_resamples=999, rng=1
    ),
    "fuzzy.efficiency_test": lambda: sigstats.fuzzy.efficiency_test(FUZZY, [[0, 1], [1, 0.5]] + [[1, 0]] * 5),
    "fuzzy.goodness_of_fit_test": lambda: sigstats.fuzzy.goodness_of_fit_test(FUZZY, [0.5, 0.5]),
    "fuzzy.homogeneity_test": lambda: sigstats.fuzzy.homogeneity_test(FUZZY, [[0, 1]] * 4 + [[1, 1]]),
    "number_correct": lambda: sigstats.number_correct([20, 20, 10], [15, 25, 10]),
    "permutation_test": lambda: sigstats.permutation_test("1-nn", FEATURES, [0, 1] * 12, n_resamples=49, cv=3, rng=1),
    "bootstrap_test": lambda: sigstats.bootstrap_test(outcomes(), n_resamples=999, rng=1),
    "auc_test": lambda: sigstats.auc_test(Y, [*REAL, 0.4, 0.1], [0.2, *REAL, 0.3]),
    "calibration_test": lambda: sigstats.calibration_test([0, 1] * 8, np.linspace(0, 1, 16), n_resamples=999, rng=1),
    "mean_score_test": lambda: sigstats.mean_score_test(REAL, [0.2, *REAL[:-1]]),
    "corrected_resampled_test": lambda: sigstats.corrected_resampled_test(REAL, n_train=9, n_test=1),
    "five_by_two_test": lambda: sigstats.five_by_two_test(np.reshape(REAL, (5, 2)).tolist()),
    "proportion_test": lambda: proportion_test(outcomes()),
    "dcf_test": lambda: dcf_test(outcomes(), cost_fn=1.0, cost_fp=2.0, prior=0.3),
    "accuracy_difference": lambda: sigstats.accuracy_difference(9, 5, n=100),
    "discordant_odds_ratio": lambda: sigstats.discordant_odds_ratio(9, 5),
    "pair_probability": lambda: sigstats.pair_probability(7, 1),
    "type_one_error": lambda: sigstats.type_one_error(40, 0.3),
    "paired_power": lambda: sigstats.paired_power(100, only_a=0.2, only_b=0.1),
    "detectable_difference": lambda: sigstats.detectable_difference(200, 0.3),
    "paired_sample_size": lambda: sigstats.paired_sample_size(only_a=0.2, only_b=0.1),
    "clopper_pearson": lambda: sigstats.clopper_pearson(7, 10),
    "f1_interval": lambda: sigstats.f1_interval(8, 1, 3),
    "f1_difference_interval": lambda: sigstats.f1_difference_interval(outcomes()),
    "relax_probabilities": lambda: sigstats.possibilistic.relax_probabilities([0.2, 0.3, 0.5], 0.01, classes=[2]),
    "compare_over_datasets": lambda: sigstats.compare_over_datasets(SCORES * 3, rng=1),
    "rank_votes": lambda: sigstats.rank_votes(
        ["x", "y", "z"] * 9, ["y", "z", "x"] * 9, ["a", "b", "tie", "a", "a"] * 5 + ["b", "a"]
    ),
    "rank_sets": lambda: rank_sets(table_of_scores()),
    "rank_models": lambda: sigstats.rank_models(table_of_scores()),
    "possibility": lambda: sigstats.possibilistic.possibility(0.018),
    "membership": lambda: sigstats.possibilistic.membership(0.018),
    "dominance": lambda: sigstats.possibilistic.dominance([0.018, 0.982], [0.2, 0.8]),
    "weigh_hypotheses": lambda: sigstats.possibilistic.weigh_hypotheses({"a": 0.018, "b": 0.2}),
    "adjust_pvalues": lambda: sigstats.adjust_pvalues([0.01, 0.04, 0.03]),
    "compare": lambda: sigstats.compare(*frames()),
    "check": lambda: sigstats.check(frames()[0], at_least=0.4),
    "assert_at_least": lambda: sigstats.assert_at_least(frames()[0], at_least=0.4),
    "assert_no_regression": lambda: sigstats.assert_no_regression(frames()[0], frames()[0]),
    "read_predictions": read,
    "discordant_counts": lambda: sigstats.discordant_counts(Y, A, B),
    "JointOutcomes": lambda: outcomes().counts,
    "JointEvents": lambda: sigstats.JointEvents.from_predictions(Y, A, B).events,
    "Measure": lambda: sigstats.Measure,
    "monte_carlo_size": lambda: [sigstats.monte_carlo_size(each) for each in (0.05, 0.01, 0.005, 0.001)],
    "GandyRule": lambda: sigstats.GandyRule(alpha=0.05, maximum=999).test([i % 3 == 0 for i in range(999)]),
    "BesagCliffordRule": lambda: sigstats.BesagCliffordRule(maximum=999, exceedances=3).test([1, 0, 1, 0, 0, 1]),
    "FixedRule": lambda: sigstats.FixedRule(maximum=3).test([0, 0, 1]),
    "study: significance": lambda: study(kind="significance", tables=[{"name": "ulcers", "counts": TABLE}]),
    "study: calibration": lambda: study(
        kind="calibration", sizes=[50], trials=20, populations=[CLASSES], tests=[{"test": "mcnemar"}]
    ),
    "study: benchmark, neighbours and Bayes": lambda: study(**LEARNED, classifiers=["1-nn", "naive-bayes"]),
    "study: benchmark, trees": lambda: study(**LEARNED, classifiers=["decision-tree"]),
    "study: benchmark, linear": lambda: study(**LEARNED, classifiers=["logistic-regression", "linear-svm"]),
}


def leaves(value: Any) -> Iterator[str | float]:
    """Every number and word of an answer: floats as floats, all else as text."""
    if value is None:  # a word that is missing, which pandas 3 has as NaN
        yield math.nan
    elif isinstance(value, float | np.floating):
        yield float(value)
    elif isinstance(value, Mapping):
        for name, each in value.items():
            yield str(name)
            yield from leaves(each)
    elif hasattr(value, "to_dict") and not is_dataclass(value):
        yield from leaves(value.to_dict("list"))
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield field.name
            yield from leaves(getattr(value, field.name))
    elif isinstance(value, list | tuple | np.ndarray):
        for each in value:
            yield from leaves(each.item() if isinstance(each, np.generic) else each)
    else:
        yield value.__name__ if isinstance(value, type) else str(value)


def environment() -> dict[str, str]:
    """What the answers were computed with."""
    try:
        from numba import config  # type: ignore[import-untyped,unused-ignore]

        numba = "off" if config.DISABLE_JIT else importlib.metadata.version("numba")
    except ImportError:
        numba = "absent"
    names = ("numpy", "scipy", "scikit-learn", "pandas")
    return {
        "Python": platform.python_version(),
        **{name: importlib.metadata.version(name) for name in names},
        "Numba": numba,
    }


def answers(wanted: Callable[[str], bool] = lambda _: True) -> dict[str, list[str | float]]:
    """What every call gives."""
    found = {}
    for name, call in CALLS.items():
        if not wanted(name):
            continue
        found[name] = list(leaves(call()))
    return found


def level(one: list[str | float], other: list[str | float]) -> int:
    """The strongest level that two answers share, as a place in `LEVELS`."""
    if repr(one) == repr(other):
        return 0
    if len(one) != len(other):
        return 3
    words = [(a, b) for a, b in zip(one, other, strict=True) if isinstance(a, str) or isinstance(b, str)]
    numbers = [(a, b) for a, b in zip(one, other, strict=True) if isinstance(a, float) and isinstance(b, float)]
    if not all(math.isclose(a, b, rel_tol=_DIGITS, abs_tol=1e-300) or (a != a and b != b) for a, b in numbers):
        return 3
    return 1 if all(a == b for a, b in words) else 3


def promises() -> dict[str, int]:
    """The level of every name in the table of docs/seeds.md."""
    text = (Path(__file__).parents[1] / "docs" / "seeds.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (same [a-z ]+) \| (.+?) \| (.+) \|$", text, flags=re.MULTILINE)
    return {name: LEVELS.index(each) for each, names, _ in rows for name in re.findall(r"`([^`]+)`", names)}


def promised_of(call: str, promised: Mapping[str, int]) -> int:
    """What is promised of a call: that of its whole name, or of what stands before the comma."""
    return promised[call] if call in promised else promised[call.partition(", ")[0].partition(".")[0]]


def main() -> int:
    """Write this installation's answers, or compare those of several."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", metavar="FILE")
    parser.add_argument("--against", nargs="+", metavar="FILE")
    options = parser.parse_args()
    if options.write:
        content = {"environment": environment(), "threads": os.environ.get("OMP_NUM_THREADS", ""), "answers": answers()}
        Path(options.write).write_text(json.dumps(content), encoding="utf-8")
    if not options.against:
        return 0
    first, *others = (json.loads(Path(path).read_text(encoding="utf-8")) for path in options.against)
    promised, wrong = promises(), 0
    for other in others:
        print(other["environment"], "threads", other["threads"] or "as they are")
        found = {name: level(first["answers"][name], other["answers"][name]) for name in first["answers"]}
        for place in sorted(set(found.values())):
            names = [name for name, each in found.items() if each == place]
            print(f"  {LEVELS[place]}: {len(names)}" + (f": {'; '.join(names)}" if place else ""))
        short = [name for name, each in found.items() if each > promised_of(name, promised)]
        wrong += len(short)
        print("\n".join(f"  less than promised: {name}" for name in short))
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
