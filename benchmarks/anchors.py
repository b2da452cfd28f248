"""What others measured, and the same here: clustered evaluations, a leaderboard, losses of optimized models.

    python benchmarks/anchors.py [--data ../shared/data] > benchmarks/anchors.md

Theirs are the figures that they print: evaluatellm (CRAN, its README), mteb pull request 5117, and Kuebler et al.
(2026, arXiv 2602.10144). Where their data are not at hand, data of the same shape stand for them, which each section
says.
"""

import argparse
import csv
import json
import math
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
from scipy.stats import norm, t

import sigstats
from sigstats.ranking.intervals import mean_interval, share_interval

EVALUATIONS, QUESTIONS = 1500, 10
#: Not their leaderboard's data sets, nor other forms of the same.
LEFT_OUT = {
    "anneal", "heart_h", "nycflights13", "reuters21578", "segment_train210", "skin_segmentation", "spect_test",
    "spect_train", "spectf_test", "spectf_train", "vertebral_2c", "spectf",
}  # fmt: skip
MODELS, TASKS, ROWS = 95, 56, 400
#: Kuebler et al.: 25,282 rows; the drop and the rows that flipped in per cent, and their p-value of all rows.
THEIRS = (
    ("rerun", -0.02, 1.31, 6.29e-1),
    ("another device", -0.14, 2.73, 9.21e-1),
    ("FP8", -0.04, 8.71, 6.01e-1),
    ("FP8 of the cache", 0.79, 9.03, 1.69e-5),
    ("four bits", 1.73, 12.63, 4.80e-15),
    ("2:4 sparse", 2.59, 20.99, 1.09e-19),
)


def table(columns: tuple[str, ...], rows: list[tuple[str, ...]]) -> None:
    print("", f"| {' | '.join(columns)} |", f"|{'---|' * len(columns)}", sep="\n")
    print(*(f"| {' | '.join(row)} |" for row in rows), sep="\n")


def clusters() -> None:
    """One model, questions on passages: what the intervals hold, and how wide they are."""
    rng = np.random.default_rng(0)
    # The mean over passages of unlike difficulty, in logits, by ten million draws.
    expected = float((1 / (1 + np.exp(-0.4 - 1.1 * np.random.default_rng(1).normal(size=10**7)))).mean())
    rows = []
    printed = {30: ("95.1% (0.191)", "74.5% (0.112)")}
    for passages in (30, 8):
        group = np.repeat(np.arange(passages), QUESTIONS)
        ways: dict[str, Callable[[np.ndarray], tuple[float, float]]] = {
            "clusters": lambda right, group=group: mean_interval(right, group, 0.95)[:2],
            "none": lambda right: mean_interval(right, None, 0.95)[:2],
            "ours": lambda right, group=group: share_interval(right, group, 0.95)[:2],
        }
        held, width = dict.fromkeys(ways, 0), dict.fromkeys(ways, 0.0)
        for _ in range(EVALUATIONS):
            chance = 1 / (1 + np.exp(-0.4 - 1.1 * rng.normal(size=passages)))
            right = (rng.random(len(group)) < chance[group]).astype(float)
            for name, way in ways.items():
                low, high = way(right)
                held[name] += low <= expected <= high
                width[name] += (high - low) / EVALUATIONS
        found = [f"{held[name] / EVALUATIONS:.1%} ({width[name]:.3f})" for name in ways]
        theirs = printed.get(passages, ("not printed", "not printed"))
        rows.append((f"{passages}", theirs[0], found[0], theirs[1], found[1], found[2]))
    print(f"""## Clustered evaluations

{EVALUATIONS:,} evaluations of passages with {QUESTIONS} questions each: how often a 95% interval holds the accuracy,
and its mean width. evaluatellm prints the coverage for 30 passages, not its generator: here the passages spread by 1.1
logits, which gives its widths. Its interval by clusters (Student's, CR1) is what `compare` and `rank` give for means of
scores; that of an accuracy is the one that one more passage of a kind not seen does not undo.""")
    table(
        ("passages", "by clusters, theirs", "the same, here", "ignoring them, theirs", "the same, here", "sigstats"),
        rows,
    )


def pairs(data: Path) -> None:
    """Losses of optimized models as printed, and real pairs of models from logs."""
    rows = []
    for name, drop, flips, printed in THEIRS:
        discordant = round(25_282 * flips / 100)
        lost = round((discordant + 25_282 * drop / 100) / 2)
        p = sigstats.mcnemar_test(lost, discordant - lost, alternative="greater").pvalue
        rows.append((name, f"{drop:+.2f}", f"{flips:.2f}%", f"{printed:.2e}", f"{p:.2e}"))
    print("""## Drops of optimized models

An 8B model on six benchmarks of 25,282 rows: the drop in points and the rows that flipped, as Kuebler et al. print
them, their p-value of all rows pooled, and ours from the counts that the two percentages give.""")
    table(("variant", "drop", "flipped", "p, theirs", "p, here"), rows)
    if not (data / "logs").is_dir():
        return
    rows = []
    for name, right_a, right_b in real_pairs(data / "logs"):
        n, a, b = len(right_a), int((right_a & ~right_b).sum()), int((right_b & ~right_a).sum())
        means = right_a.mean(), right_b.mean()
        error = math.sqrt(sum(each * (1 - each) / n for each in means))
        spread = (right_b * 1.0 - right_a).std(ddof=1) / math.sqrt(n)
        difference = means[1] - means[0]
        unpaired = 2 * norm.sf(abs(difference) / error)
        paired = 2 * t.sf(abs(difference) / spread, n - 1) if spread else 1.0
        low, high = sigstats.accuracy_difference(b, a, n).confidence_interval[:2]
        ours = sigstats.mcnemar_test(a, b).pvalue
        cells = f"{n}", f"{means[0]:.1%}", f"{means[1]:.1%}", f"{a} : {b}", f"{unpaired:.2g}", f"{paired:.2g}"
        rows.append((name, *cells, f"{ours:.2g}", f"{100 * low:+.1f} to {100 * high:+.1f}"))
    print("""
## Real pairs of models

Logs as found in public repositories. Beside the exact test of McNemar stand the z of lm-evaluation-harness's
`model_comparator.py`, which takes the two accuracies for independent, and Student's paired t of evaluatellm; all
two-sided. The interval is that of the difference in points, B less A.""")
    columns = (
        "pair",
        "rows",
        "A",
        "B",
        "only A : only B right",
        "p, unpaired z",
        "p, paired t",
        "p, McNemar",
        "interval",
    )
    table(columns, rows)


def real_pairs(logs: Path) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """The name of a pair, and which rows each model got right."""
    wild, harness = logs / "wild", logs / "lm-evaluation-harness"
    resolved = [
        set(json.loads((wild / f"swebench-results-{name}.json").read_text())["resolved"])
        for name in ("Skywork", "JoyCode")
    ]
    ids = [*sorted(resolved[0] | resolved[1]), *[""] * (500 - len(resolved[0] | resolved[1]))]
    yield "SWE-bench Verified, two agents", *(np.array([each in one for each in ids]) for one in resolved)
    tables = [
        {
            row["id"]: row["gold_label"] == row["pred_label"]
            for row in csv_rows(wild / f"gold_label-pred_label-{side}.csv")
        }
        for side in "ab"
    ]
    yield "labelled predictions", *_aligned(tables)
    tables = [
        {(row["task_id"], k): row["passed"] for row, k in repeated(wild / f"humaneval-passed-{side}.jsonl", "task_id")}
        for side in "ab"
    ]
    yield "HumanEval, samples", *_aligned(tables)
    files = [sorted(harness.glob(f"mmlu-pro-plus-*-{which}.jsonl")) for which in (14, 15)]
    tables = [
        {
            (file.name[:-9], row["doc_id"]): row["exact_match"] == 1
            for file in each
            for row, _ in repeated(file, "doc_id")
        }
        for each in files
    ]
    yield "MMLU-Pro+, three subjects", *_aligned(tables)


def repeated(path: Path, key: str) -> Iterator[tuple[dict, int]]:
    """The objects of a log, and how many of the same key came before each."""
    seen: Counter[str] = Counter()
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        yield row, seen[str(row[key])]
        seen[str(row[key])] += 1


def csv_rows(path: Path) -> Iterator[dict]:
    with path.open(encoding="utf-8", newline="") as lines:
        yield from csv.DictReader(lines)


def _aligned(tables: list[dict]) -> list[np.ndarray]:
    keys = [key for key in tables[0] if key in tables[1]]
    return [np.array([each[key] for key in keys], dtype=bool) for each in tables]


def models() -> list:
    """Ninety-five quick classifiers, many of them close to each other."""
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
    from sklearn.linear_model import RidgeClassifier
    from sklearn.naive_bayes import BernoulliNB, GaussianNB
    from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
    from sklearn.tree import DecisionTreeClassifier

    neighbours = [
        KNeighborsClassifier(k, weights=weights) for k in (1, 3, 5, 7, 9, 13) for weights in ("uniform", "distance")
    ]
    trees = [
        DecisionTreeClassifier(max_depth=depth, min_samples_leaf=leaf, random_state=0)
        for depth in (1, 2, 3, 4, 5, 6, 8, 10, None)
        for leaf in (1, 3, 10, 20)
    ]
    forests = [
        kind(n, max_depth=depth, random_state=0)
        for kind in (RandomForestClassifier, ExtraTreesClassifier)
        for n in (3, 6, 9)
        for depth in (3, 6, None)
    ]
    others = [
        *(RidgeClassifier(alpha) for alpha in (0.01, 0.1, 1, 3, 10, 30, 100, 300, 1000)),
        *(GaussianNB(var_smoothing=smoothing) for smoothing in (1e-9, 1e-6, 1e-4, 1e-3, 1e-2, 0.1, 0.3, 1.0)),
        *(BernoulliNB(alpha=alpha) for alpha in (0.01, 0.1, 1, 10)),
        *(LinearDiscriminantAnalysis(solver="lsqr", shrinkage=share) for share in (0.01, 0.05, 0.1, 0.2, 0.5, 0.9, 1)),
        NearestCentroid(),
    ]
    found = [*neighbours, *trees, *forests, *others]
    assert len(found) == MODELS, len(found)
    return found


def answers(path: Path) -> np.ndarray:
    """Which held-out rows each model gets right: a bool array of shape (rows, models)."""
    import pandas as pd

    rng = np.random.default_rng(0)
    frame = pd.read_parquet(path)
    label = frame.pop("class").astype(str).to_numpy()
    chosen = rng.permutation(len(frame))[: 2 * ROWS]
    frame, label = frame.iloc[chosen], label[chosen]
    X = pd.get_dummies(frame, dtype=float).to_numpy(dtype=float)
    train = np.arange(len(X)) % 2 == 0
    middle = np.nan_to_num(np.nanmedian(np.where(np.isnan(X), np.nan, X)[train], axis=0))
    X = np.where(np.isnan(X), middle, X)
    X = (X - X[train].mean(axis=0)) / np.maximum(X[train].std(axis=0), 1e-9)
    return np.column_stack(
        [model.fit(X[train], label[train]).predict(X[~train]) == label[~train] for model in models()]
    )


def leaderboard(data: Path) -> None:
    """Neighbours of a leaderboard: told apart across tasks, and on these tasks."""
    import warnings

    warnings.simplefilter("ignore")
    files = [path for path in sorted(data.glob("*.parquet")) if path.stem not in LEFT_OUT][:TASKS]
    right = [answers(path) for path in files]
    scores = np.array([each.mean(axis=0) for each in right])
    order = np.argsort(-scores.mean(axis=0), kind="stable")
    draws = np.random.default_rng(1).multinomial(len(files), np.full(len(files), 1 / len(files)), size=10_000)
    sizes = np.array([len(each) for each in right])
    told = {"bootstrap": 0, "signed rank": 0, "these tasks": 0, "joint": 0}
    for a, b in pairwise(order.tolist()):
        differences = scores[:, a] - scores[:, b]
        low, high = np.quantile(draws @ differences, [0.025, 0.975])
        told["bootstrap"] += low > 0 or high < 0
        told["signed rank"] += sigstats.signed_rank_test(differences).pvalue <= 0.05
        only = [np.array([int((each[:, i] & ~each[:, j]).sum()) for each in right]) for i, j in ((a, b), (b, a))]
        told["these tasks"] += sigstats.stratified_paired_test(*only, sizes).pvalue <= 0.05
        # Either may be better: both sides at half the level.
        sides = [sigstats.joint_tasks_test(*each, sizes, n_resamples=999, rng=0).pvalue for each in (only, only[::-1])]
        told["joint"] += min(sides) <= 0.025
    pairs_ = MODELS - 1
    rows = [
        ("95 models, 56 tasks of MTEB, by them", "5.3%", "", "62.8%", ""),
        (
            f"95 classifiers, {len(files)} tables of {sizes.min()} to {sizes.max()} rows held out",
            *(f"{told[name] / pairs_:.1%}" for name in told),
        ),
    ]
    print(f"""## Neighbours on a leaderboard

{pairs_} pairs of neighbours in the order of the mean over tasks: the share told apart at 0.05, two-sided. Their scores
are not at hand, so that quick classifiers of scikit-learn stand for them, on as many tables. Across tasks the question
is about tasks like these; within them, about these tasks, whose rows are the sample. The bootstrap of tasks is that of
the pull request; `compare_over_datasets` tests by signed ranks, `stratified_paired_test` and `joint_tasks_test` by
rows.""")
    columns = (
        "leaderboard",
        "across tasks, bootstrap",
        "across tasks, signed ranks",
        "these tasks",
        "these tasks, any of them",
    )
    table(columns, rows)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--only", choices=("clusters", "pairs", "leaderboard"))
    options = parser.parse_args()
    sections = {
        "clusters": clusters,
        "pairs": lambda: pairs(options.data),
        "leaderboard": lambda: leaderboard(options.data),
    }
    if options.only:
        sections[options.only]()
        return
    print("""# What others measured, and the same here

`python benchmarks/anchors.py`, with the data sets and logs in `--data`.""")
    for section in sections.values():
        print()
        section()


if __name__ == "__main__":
    main()
