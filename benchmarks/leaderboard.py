"""Neighbours on MTEB's leaderboard: told apart across tasks, and on these tasks, beside what others printed.

    git clone --depth 1 https://github.com/embeddings-benchmark/results RESULTS
    git clone --depth 1 https://github.com/embeddings-benchmark/mteb MTEB
    python benchmarks/leaderboard.py RESULTS MTEB > benchmarks/leaderboard.md

Theirs are the figures of mteb pull request 5117, of 95 models and 56 tasks that it does not name.
"""

import argparse
import ast
import json
import math
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
from anchors import table
from scipy.stats import t

import sigstats

EXPERIMENTS, RESAMPLES, LEVEL = 10, 10_000, 0.05


def benchmark(mteb: Path) -> set[str]:
    """The names of the tasks of MTEB(Multilingual, v2), as its source lists them."""
    tree = ast.parse((mteb / "mteb/benchmarks/benchmarks/benchmarks.py").read_text(encoding="utf-8"))
    (tasks,) = (
        node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "mteb_multilingual_tasks"
    )
    return {node.value for node in ast.walk(tasks) if isinstance(node, ast.Constant) and isinstance(node.value, str)}


def experiments(path: Path) -> Iterator[list[float]]:
    """The scores of the experiments behind each main score of a file: ten training or cluster samples each."""
    for row in (row for rows in json.loads(path.read_bytes()).get("scores", {}).values() for row in rows):
        if isinstance(levels := row.get("v_measures"), dict):
            yield from list(levels.values())[:1]
        for name in (row.get("scores_per_experiment") or [{}])[0]:
            scores = [each[name] for each in row["scores_per_experiment"]]
            if None not in scores and abs(np.mean(scores) - row["main_score"]) < 2e-6:
                yield scores
                break


def leaderboard(results: Path, tasks: set[str]) -> np.ndarray:
    """Models by tasks by experiments: the tasks with ten experiments, the models that have all of these."""
    scores_of: dict[str, dict[str, list[list[float]]]] = defaultdict(lambda: defaultdict(list))
    for path in sorted((results / "results").glob("*/*/*.json")):
        if path.stem in tasks and path.parent.name != "external":
            scores_of[path.stem][path.parts[-3]] += [each for each in experiments(path) if len(each) == EXPERIMENTS]
    repeated = {task: {model for model, each in models.items() if each} for task, models in scores_of.items()}
    most = max(map(len, repeated.values()), default=0)
    kept = sorted(task for task, models in repeated.items() if 2 * len(models) > most)
    models = sorted(set.intersection(*(repeated[task] for task in kept)))
    return np.array([[np.mean(scores_of[task][model], axis=0) for task in kept] for model in models])


def told(resampled: np.ndarray) -> bool:
    """Whether the interval of a difference excludes 0."""
    low, high = np.quantile(resampled, [LEVEL / 2, 1 - LEVEL / 2])
    return bool(low > 0 or high < 0)


def by_strata(differences: np.ndarray) -> float:
    """Student's p of the mean over tasks, each with a variance of its own (Satterthwaite 1946)."""
    tasks, each = differences.shape
    variances = differences.var(axis=1, ddof=1) / each
    if not variances.any():  # a model that is listed twice
        return 1.0
    freedom = variances.sum() ** 2 / (variances**2).sum() * (each - 1)
    return float(2 * t.sf(abs(differences.mean()) * tasks / math.sqrt(variances.sum()), freedom))


def shares(scores: np.ndarray) -> list[str]:
    """Of the neighbours in the order of the mean over tasks, the share that each method tells apart."""
    means = scores.mean(axis=2)
    order = np.argsort(-means.mean(axis=1), kind="stable").tolist()
    rng = np.random.default_rng(0)
    tasks = means.shape[1]
    of_tasks = rng.multinomial(tasks, np.full(tasks, 1 / tasks), size=RESAMPLES) / tasks
    of_experiments = rng.multinomial(EXPERIMENTS, np.full(EXPERIMENTS, 1 / EXPERIMENTS), size=(RESAMPLES, tasks))
    counts = np.zeros(5)
    for a, b in pairwise(order):
        differences = scores[a] - scores[b]
        counts += (
            told(of_tasks @ differences.mean(axis=1)),
            sigstats.signed_rank_test(differences.mean(axis=1)).pvalue <= LEVEL,
            told(np.einsum("rte,te->r", of_experiments, differences)),
            by_strata(differences) <= LEVEL,
            sigstats.sign_flip_test(differences.ravel()).pvalue <= LEVEL,
        )
    return [f"{count / (len(order) - 1):.1%}" for count in counts]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("results", type=Path)
    parser.add_argument("mteb", type=Path)
    options = parser.parse_args()
    scores = leaderboard(options.results, benchmark(options.mteb))
    print(f"""# Neighbours on a leaderboard

`python benchmarks/leaderboard.py RESULTS MTEB`, with the public results of MTEB.

The tasks of MTEB(Multilingual, v2) that were run ten times on other samples, and the models that have all of them, in
the order of the mean over tasks: the share of neighbours told apart at {LEVEL}, two-sided. The pull request resamples
tasks, and experiments within each task. Across tasks the question is about tasks like these; `compare_over_datasets`
tests it by signed ranks. On these tasks only the samples of an experiment are left to chance, not the rows of its
test set: Student's t by tasks has the variance that a bootstrap of ten understates by a tenth. `sign_flip_test` has a
stronger null hypothesis, that the two models are equal in every task and experiment, and treats differences between
tasks as chance.""")
    columns = (
        "leaderboard",
        "across tasks, bootstrap",
        "signed ranks",
        "these tasks, bootstrap",
        "Student's t",
        "sign flips",
    )
    models, tasks, _ = scores.shape
    rows = [
        ("95 models, 56 tasks, by the pull request", "5.3%", "", "62.8%", "", ""),
        (f"{models} models, {tasks} tasks", *shares(scores)),
    ]
    table(columns, rows)


if __name__ == "__main__":
    main()
