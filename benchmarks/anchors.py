"""What others measured, and the same here: clusters, measures of one model, optimized models, real pairs.

    python benchmarks/anchors.py [--data ../shared/data] > benchmarks/anchors.md

Theirs are the figures that they print: evaluatellm (CRAN, its README), and Kuebler et al. (2026, arXiv 2602.10144); or
what a peer gives on the same rows: confidenceinterval 1.0.5, evalstats 0.3.3, truescore 0.7.4, fairlearn 0.15.0
(pip install them) and scikit-learn.
Where their data are not at hand, data of the same shape stand for them, which each section says.
"""

import argparse
import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import binom, norm, t

import sigstats
from sigstats import read_predictions as read
from sigstats.ranking.means import share_interval, student_interval

EVALUATIONS, QUESTIONS, REPEATED = 1500, 10, 200
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
            "clusters": lambda right, group=group: student_interval(right, group, 0.95)[:2],
            "none": lambda right: student_interval(right, None, 0.95)[:2],
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

{EVALUATIONS:,} evaluations of passages with {QUESTIONS} questions each: how often a 95% interval contains the accuracy,
and its mean width. evaluatellm prints the coverage for 30 passages, but not its generator: here the passages spread by
1.1 logits, which gives its widths. `compare` and `rank` give its interval by clusters (Student's, CR1) for means of
scores; for an accuracy they give an interval that one more passage of an unseen kind does not undo.""")
    table(
        ("passages", "by clusters, theirs", "the same, here", "ignoring them, theirs", "the same, here", "sigstats"),
        rows,
    )


def measures() -> None:
    """The macro-F1 and the area of one model, of a rare class: how often intervals hold them, and how wide they are."""
    from confidenceinterval import f1_score, roc_auc_score

    rule, rows = sigstats.ComparisonRule(n_resamples=2000, smallest_slice=1), []
    for n, rare in ((60, 0.2), (100, 0.05), (100, 0.2)):
        # A score is normal, a unit higher for the rare class, which is predicted above 1.
        recall, fall_out = norm.sf(0.0), norm.sf(1.0)
        counts = np.array([[1 - fall_out, fall_out], [1 - recall, recall]]) * [[1 - rare], [rare]]
        f1 = np.mean([2 * counts[i, i] / (counts[i].sum() + counts[:, i].sum()) for i in (0, 1)])
        rng, held = np.random.default_rng(n), np.zeros((2, 2, 2))
        done = 0
        while done < REPEATED:
            y = (rng.random(n) < rare).astype(int)
            if not 2 <= y.sum() <= n - 2:
                continue
            score, done = y + rng.normal(size=n), done + 1
            frame = pd.DataFrame({"id": range(n), "label": y, "prediction": (score > 1) * 1, "prob": score})
            ours = [
                sigstats.check(frame, measures="macro-f1", at_least=0.5, rule=rule).rows[0],
                sigstats.check(frame, score="prob", measures="auc", at_least=0.5, rule=rule).rows[0],
            ]
            theirs = [f1_score(y, (score > 1) * 1, average="macro")[1], roc_auc_score(y, score)[1]]
            for which, expected in enumerate((f1, norm.cdf(math.sqrt(0.5)))):
                for side, (low, high) in enumerate((theirs[which], (ours[which].low, ours[which].high))):
                    held[which, side] += np.array([low <= expected <= high, high - low]) / REPEATED
        for name, both in zip(("macro-F1", "AUC"), held, strict=True):
            rows.append((name, f"{n:,}", f"{rare:.0%}", *(f"{share:.1%} ({width:.3f})" for share, width in both)))
    print(f"""## Measures of one model

{REPEATED:,} data sets with a rare class: how often a 95% interval contains the measure in the population, and its mean
width. confidenceinterval gives Takahashi's interval of macro-F1 and DeLong's of the area; `check` uses random weights
of the rows with one more row, which widens the intervals of areas with few rows of a class.""")
    table(("measure", "rows", "rare class", "confidenceinterval", "sigstats"), rows)


def theirs(x: int, n: int, y: int, m: int) -> tuple[float, float]:
    """The interval of evalstats 0.3.3 for two independent accuracies."""
    from evalstats.core.unpaired import compare_unpaired

    right = np.concatenate([np.arange(n) < x, np.arange(m) < y]).astype(float)
    frame = pd.DataFrame({"model": np.repeat(["a", "b"], [n, m]), "score": right})
    (pair,) = compare_unpaired(frame, factor_col="model", metric_col="score", alpha=0.05).to_dict()["pairwise"]
    return pair["ci_low"], pair["ci_high"]


def different_rows() -> None:
    """Two models on different rows: by all outcomes, the least coverage over a grid of accuracies, and mean width."""
    rows, grid = [], np.linspace(0, 1, 21)
    for n, m in ((10, 10), (6, 14)):
        cells = [f"{n} and {m}"]
        for way in (theirs, ours):
            ends = np.array([[way(x, n, y, m) for y in range(m + 1)] for x in range(n + 1)])
            held, widths = [], []
            for p in grid:
                for q in grid:
                    chance = np.outer(binom.pmf(np.arange(n + 1), n, p), binom.pmf(np.arange(m + 1), m, q))
                    inside = (ends[..., 0] <= p - q + 1e-6) & (p - q - 1e-6 <= ends[..., 1])
                    held.append(chance[inside].sum())
                    widths.append((chance * (ends[..., 1] - ends[..., 0])).sum())
            cells.append(f"{100 * min(held):.1f}% ({np.mean(widths):.3f})")
        rows.append(tuple(cells))
    print("""## Two models on different rows

Smallest coverage of a 95% interval of the difference of two accuracies (all outcomes, a grid of 21 x 21 accuracies),
and its mean width: `compare_unpaired` of evalstats 0.3.3 (Agresti and Caffo's interval), and `unpaired_test`.""")
    table(("rows of each", "evalstats", "sigstats"), rows)


def ours(x: int, n: int, y: int, m: int) -> tuple[float, float]:
    low, high = sigstats.unpaired_test(np.arange(n) < x, np.arange(m) < y).confidence_interval
    return low, high


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

Logs from public repositories. The exact test of McNemar is compared with the z of lm-evaluation-harness's
`model_comparator.py`, which treats the two accuracies as independent, and with Student's paired t of evaluatellm; all
two-sided. The interval is that of the difference in points, B minus A.""")
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
    labelled = {"label": "gold_label", "prediction": "pred_label"}
    yield (
        "labelled predictions",
        *right(*(read(wild / f"gold_label-pred_label-{side}.csv", **labelled) for side in "ab")),
    )
    yield "HumanEval, samples", *right(*(read(wild / f"humaneval-passed-{side}.jsonl") for side in "ab"))
    yield "EvalPlus", *right(*(read(wild / f"evalplus-{side}.json", score="plus") for side in "ab"))
    files = (wild / f"promptfoo-{name}.json.gz" for name in ("v3_gpt4o", "pf-shift"))
    yield "promptfoo, two models", *right(*map(read, files))
    subjects = "psychology", "health", "chemistry"
    of_models = [[harness / f"mmlu-pro-plus-{name}-{which}.jsonl" for name in subjects] for which in (14, 15)]
    yield (
        "MMLU-Pro+, three subjects",
        *right(*(pd.concat(map(read, each), keys=subjects).reset_index(0) for each in of_models)),
    )


def right(*tables: pd.DataFrame) -> list[np.ndarray]:
    """Which rows that both tables have each model got right."""
    keys = [name for name in ("level_0", "id", "epoch") if name in tables[0]]
    both = tables[0].merge(tables[1], on=keys, suffixes=("", "_b"))
    return [(both["label"] == both[f"prediction{side}"]).to_numpy() for side in ("", "_b")]


def judged() -> None:
    """The rate that people would see, of a judge with few labels: coverage and mean width of 95% intervals."""
    from truescore import build_report

    rows, n, repeated = [], 1000, 40
    for labelled, sensitivity, specificity in ((30, 0.95, 0.75), (100, 0.95, 0.75), (100, 0.99, 0.97)):
        rng, found = np.random.default_rng(labelled), np.zeros((2, 2))
        for _ in range(repeated):
            truth = rng.random(n) < 0.8
            judge = np.where(truth, rng.random(n) < sensitivity, rng.random(n) > specificity).astype(float)
            chosen = np.sort(rng.choice(n, labelled, replace=False))
            theirs = build_report(judge, truth[chosen].astype(float), chosen).corrected
            human = np.full(n, np.nan)
            human[chosen] = truth[chosen]
            frame = pd.DataFrame({"id": range(n), "score": judge, "human": human})
            (row,) = sigstats.check(frame, score="score", human="human", at_least=0.5, higher_is_better="score").rows
            for side, (low, high) in enumerate(((theirs.low, theirs.high), (row.low, row.high))):
                found[side] += np.array([low <= 0.8 <= high, high - low]) / repeated
        cells = [f"{share:.0%} ({width:.3f})" for share, width in found]
        rows.append((f"{labelled}", f"{sensitivity:.0%}, {specificity:.0%}", *cells))
    print(f"""## A judge with few labels

A judge gives {n:,} verdicts on answers; 80% of the answers are right, and people labelled some of them. The table gives
the share of 95% intervals that contain the 80%, in {repeated} repetitions, and their mean width, \
for `audit` of truescore 0.7.4
(`build_report`) and for `check --human`.""")
    table(("labels", "sensitivity, specificity", "truescore", "sigstats"), rows)


def point_values() -> None:
    """The values of measures by `check`, and those of scikit-learn for the same predictions."""
    from sklearn import metrics

    rng = np.random.default_rng(3)
    y = rng.integers(0, 4, 400)
    chances = rng.dirichlet(np.ones(4), 400) + np.eye(4)[y] * rng.random((400, 1))
    chances /= chances.sum(axis=1, keepdims=True)
    said, rare, score = chances.argmax(axis=1), y == 0, chances[:, 0]
    both = {
        "macro-auc": (y, chances, metrics.roc_auc_score(y, chances, multi_class="ovr")),
        "top-2-accuracy": (y, chances, metrics.top_k_accuracy_score(y, chances, k=2)),
        "weighted-f1": (y, said, metrics.f1_score(y, said, average="weighted")),
        "macro-f-beta(beta=2)": (y, said, metrics.fbeta_score(y, said, beta=2, average="macro")),
        "average-precision": (rare, score, metrics.average_precision_score(rare, score)),
        "auc": (rare, score, metrics.roc_auc_score(rare, score)),
    }
    rows = []
    for name, (label, given, value) in both.items():
        (row,) = sigstats.check(label, given, measures=name, at_least=0.5).rows
        rows.append((name, f"{value:.6f}", f"{row.value:.6f}", f"{row.low:.3f} to {row.high:.3f}"))
    print("""## Values of measures

400 rows of four classes; scikit-learn gives no interval.""")
    table(("measure", "scikit-learn", "`check`", "95% interval"), rows)


def gaps() -> None:
    """The observed gap of accuracies between groups: that of fairlearn, and that of `check`."""
    from fairlearn.metrics import MetricFrame

    rows = []
    for n, groups in ((400, 2), (1000, 3)):
        rng = np.random.default_rng(n)
        y, group = rng.integers(0, 2, n), rng.integers(0, groups, n)
        said = np.where(rng.random(n) < 0.9 - 0.05 * group, y, 1 - y)
        frame = MetricFrame(metrics=lambda y, said: np.mean(y == said), y_true=y, y_pred=said, sensitive_features=group)
        rule = sigstats.ComparisonRule(gaps=True)
        result = sigstats.check(y, said, at_most=0.5, slices={"g": group}, rule=rule)
        (row,) = (row for row in result.rows if row.test.kind == "gap")
        rows.append(
            (f"{n:,}", f"{groups}", f"{frame.difference():.4f}", f"{row.value:.4f}", f"{row.low:.3f} to {row.high:.3f}")
        )
    print("""## Gaps between groups

The largest difference between the accuracies of two groups, for the same predictions: `MetricFrame.difference()` of
fairlearn 0.15.0, which gives no interval, and `check --gaps`.""")
    table(("rows", "groups", "fairlearn", "sigstats", "interval"), rows)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument(
        "--only", choices=("clusters", "measures", "values", "different-rows", "judged", "gaps", "pairs")
    )
    options = parser.parse_args()
    sections = {
        "clusters": clusters,
        "measures": measures,
        "values": point_values,
        "different-rows": different_rows,
        "judged": judged,
        "gaps": gaps,
        "pairs": lambda: pairs(options.data),
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
