"""Joint decisions over several tasks: how often each says that the candidate is worse.

    python benchmarks/joint_tasks.py [TRIALS] [--data ../shared/data] > benchmarks/joint_tasks.md

Beside `sigstats.joint_tasks_test` stand the tests of Kuebler et al. (2026, arXiv 2602.10144, section 4) from their
definitions: McNemar's exact one-sided test of all rows, pooled; the largest standardized drop of a task,
``(b - c) / sqrt(b + c)``, by random draws; Fisher's combination of the tasks' exact p-values; and their decision, any
of the three at a third of the level. Each trial keeps the discordant rows of a task and draws how many of them the
baseline got right. The tasks have the sizes of their leaderboard, or are those of real logs in `--data`.
"""

import argparse
import json
from pathlib import Path

import numpy as np
from scipy.stats import binom, chi2

import sigstats

LEVEL, DRAWS = 0.05, 999
#: Open LLM Leaderboard v2, 25,282 rows in all, as in their paper; which tasks have how many is not printed there.
LEADERBOARD = {"IFEval": 541, "MuSR": 756, "GPQA": 1192, "MATH": 5000, "BBH": 5761, "MMLU-Pro": 12032}
#: SWE-bench Verified by repository.
VERIFIED = {
    "django": 231, "sympy": 75, "sphinx-doc": 44, "matplotlib": 34, "scikit-learn": 32, "astropy": 22, "pydata": 22,
    "pytest-dev": 19, "pylint-dev": 10, "psf": 8, "mwaskom": 2, "pallets": 1,
}  # fmt: skip
#: The rate at which quantization to eight bits flipped answers in their table.
FLIPS = (0.09,)
THEIRS = ("pooled", "max drop", "Fisher", "any of these at a third")
OURS = ("any task", "mean over tasks", "joint decision")
COLUMNS = ("worse on", *(f"theirs: {name}" for name in THEIRS), *(f"ours: {name}" for name in OURS))


def patterns(tasks: int) -> dict[str, np.ndarray]:
    """Where the candidate is worse: how strongly on each task, from the smallest one."""
    one = np.eye(tasks)
    half = np.arange(tasks) < tasks // 2
    return {
        "nowhere": np.zeros(tasks),
        "all tasks alike": np.ones(tasks),
        "the smallest task": one[0],
        "a middle task": one[tasks // 2],
        "the largest task": one[-1],
        "the smaller half": half.astype(float),
        "the smaller half, better on the largest": half - one[-1],
    }


def chances(sizes: np.ndarray, discordant: np.ndarray, trials: int, rng: np.random.Generator) -> list[list[str]]:
    """A row for each pattern: the share of trials in which each decision is that the candidate is worse."""
    null = rng.binomial(discordant, 0.5, size=(20_000, len(sizes)))
    drops = np.sort(largest_drop(null, discordant))
    found = []
    for name, pattern in patterns(len(sizes)).items():
        worse = discordant * (pattern > 0)
        tilt = min(3 / np.sqrt(worse.sum()), 1) if worse.any() else 0.0  # three standard errors of what got worse
        lost = rng.binomial(discordant, (1 + pattern * tilt) / 2, size=(trials, len(sizes)))
        won = discordant - lost
        own = binom.sf(lost - 1, discordant, 0.5)
        theirs = [
            binom.sf(lost.sum(axis=1) - 1, discordant.sum(), 0.5),
            (1 + len(drops) - np.searchsorted(drops, largest_drop(lost, discordant) - 1e-9)) / (1 + len(drops)),
            chi2.sf(-2 * np.log(own).sum(axis=1), 2 * len(sizes)),
        ]
        results = [
            sigstats.joint_tasks_test(*each, sizes, n_resamples=DRAWS, rng=rng) for each in zip(lost, won, strict=True)
        ]
        ours = [[getattr(each, key) for each in results] for key in ("any_task", "mean_over_tasks", "pvalue")]
        columns = [*theirs, 3 * np.min(theirs, axis=0), *ours]
        found.append([name, *(f"{np.mean(np.array(each) <= LEVEL):.1%}" for each in columns)])
    return found


def largest_drop(lost: np.ndarray, discordant: np.ndarray) -> np.ndarray:
    """The largest standardized drop of any task."""
    return ((2 * lost - discordant) / np.sqrt(np.maximum(discordant, 1))).max(axis=1)


def mean_level(trials: int, rng: np.random.Generator) -> str:
    """How often the mean over tasks is called worse where a gain on half of the tasks cancels a loss on the others."""
    sizes = np.array([100, 200, 400, 800])
    # Rows on which only the baseline, and only the candidate, is right: four points lost, four points gained.
    rates = np.array([[0.08, 0.04], [0.04, 0.08], [0.08, 0.04], [0.04, 0.08]])
    cells = np.stack(
        [rng.multinomial(n, [*rate, 1 - rate.sum()], size=trials) for n, rate in zip(sizes, rates, strict=True)]
    )
    found = [
        sigstats.stratified_paired_test(trial[:, 0], trial[:, 1], sizes, alternative="greater").pvalue <= LEVEL
        for trial in cells.transpose(1, 0, 2)
    ]
    return f"{np.mean(found):.1%}"


def repositories(data: Path) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Two agents on SWE-bench Verified by repository: names, and what only either resolved."""
    folder = data / "logs/wild"
    resolved = [
        set(json.loads((folder / f"swebench-results-{name}.json").read_text())["resolved"])
        for name in ("Skywork", "JoyCode")
    ]
    names = sorted(VERIFIED, key=VERIFIED.__getitem__)
    only = [
        np.array([sum(each.split("__")[0] == name for each in one - other) for name in names])
        for one, other in (resolved, resolved[::-1])
    ]
    return names, *only


def table(rows: list[list[str]], columns: tuple[str, ...]) -> None:
    print("", f"| {' | '.join(columns)} |", f"|{'---|' * len(columns)}", sep="\n")
    print(*(f"| {' | '.join(row)} |" for row in rows), sep="\n")


def leaderboard(trials: int, share: float) -> None:
    sizes = np.array([*LEADERBOARD.values()])
    print(f"## Six tasks of {sizes.min():,} to {sizes.max():,} rows, {share:.0%} of rows discordant")
    discordant = np.round(sizes * share).astype(np.int64)
    table(chances(sizes, discordant, trials, np.random.default_rng([0, len(sizes), round(100 * share)])), COLUMNS)


def cancelling(trials: int) -> None:
    print(f"""## The mean over tasks where gains and losses cancel

Of {10 * trials:,} trials with four points lost on two tasks and gained on two, the mean over tasks is called worse in
{mean_level(10 * trials, np.random.default_rng(1))} at level {LEVEL}.""")


def agents(trials: int, data: Path) -> None:
    names, a, b = repositories(data)
    sizes = np.array([VERIFIED[name] for name in names])
    found = sigstats.joint_tasks_test(a, b, sizes, alternative="less", rng=0)
    better = [name for name, p in zip(names, found.tasks, strict=True) if p <= LEVEL]
    print(f"""## Two real agents on SWE-bench Verified, 12 repositories as tasks

JoyCode is better than Skywork: joint p {found.pvalue:.2g}, mean over tasks {found.mean_over_tasks:.2g}, any task
{found.any_task:.2g}, every task {found.every_task:.2g}; at once, by adjusted p-values, on {", ".join(better)}.
With as many discordant rows in each repository, and rows that fall at random:""")
    table(chances(sizes, a + b, trials, np.random.default_rng(2)), COLUMNS)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("trials", type=int, nargs="?", default=300)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--only", type=int, help="one section, from 0")
    options = parser.parse_args()
    trials = options.trials
    sections = [
        *(lambda share=share: leaderboard(trials, share) for share in FLIPS),
        lambda: cancelling(trials),
        *([lambda: agents(trials, options.data)] if (options.data / "logs").is_dir() else []),
    ]
    if options.only is not None:
        sections[options.only]()
        return
    print(f"""# One decision over several tasks

`python benchmarks/joint_tasks.py {trials}`: in how many of {trials:,} trials each decision at level {LEVEL} is that the
candidate is worse. Theirs are the tests of Kuebler et al. (2026), ours those of `joint_tasks_test`. The first row of
each table is the level. The standard error of a share is {50 / trials**0.5:.1f} points at most.""")
    for section in sections:
        print()
        section()


if __name__ == "__main__":
    main()
