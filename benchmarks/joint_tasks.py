"""What the study joint-tasks does not ask of joint decisions: the mean where gains and losses cancel, two real agents.

    python benchmarks/joint_tasks.py [TRIALS] [--data ../shared/data] > benchmarks/joint_tasks.md

The level and the power of the decisions are those of `sigstats run joint-tasks`.
"""

import argparse
import json
from pathlib import Path

import numpy as np

import sigstats

LEVEL = 0.05
#: SWE-bench Verified by repository.
VERIFIED = {
    "django": 231, "sympy": 75, "sphinx-doc": 44, "matplotlib": 34, "scikit-learn": 32, "astropy": 22, "pydata": 22,
    "pytest-dev": 19, "pylint-dev": 10, "psf": 8, "mwaskom": 2, "pallets": 1,
}  # fmt: skip


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


def cancelling(trials: int) -> None:
    print(f"""## The mean over tasks where gains and losses cancel

Of {trials:,} trials with four points lost on two tasks and gained on two, the mean over tasks is called worse in
{mean_level(trials, np.random.default_rng(1))} at level {LEVEL}.""")


def agents(data: Path) -> None:
    names, a, b = repositories(data)
    sizes = np.array([VERIFIED[name] for name in names])
    found = sigstats.joint_tasks_test(a, b, sizes, alternative="less", rng=0)
    better = [name for name, p in zip(names, found.tasks, strict=True) if p <= LEVEL]
    print(f"""## Two real agents on SWE-bench Verified, 12 repositories as tasks

JoyCode is better than Skywork: joint p {found.pvalue:.2g}, mean over tasks {found.mean_over_tasks:.2g}, any task
{found.any_task:.2g}, every task {found.every_task:.2g}; at once, by adjusted p-values, on {", ".join(better)}.""")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("trials", type=int, nargs="?", default=3000)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    options = parser.parse_args()
    print("# One decision over several tasks\n\n`python benchmarks/joint_tasks.py`\n")
    cancelling(options.trials)
    if (options.data / "logs").is_dir():
        print()
        agents(options.data)


if __name__ == "__main__":
    main()
