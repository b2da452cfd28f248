"""Tests stopped together: replicates a test, decisions compared with those of all replicates, and false discoveries.

OMP_NUM_THREADS=1 python benchmarks/joint.py > benchmarks/joint.md
"""

import os
import platform
import time

import numpy as np

from sigstats.multiplicity import adjust_family
from sigstats.sequential.gandy_rule import GandyRule
from sigstats.sequential.joint_rule import JointRule

ALPHA, MOST = 0.05, 9999


def decisions(pvalues, adjust="benjamini-hochberg"):
    return np.array(adjust_family(list(pvalues), adjust)) <= ALPHA


def together(rule, flags):
    stops = rule.stops(flags)
    pvalues = [rule.stopped(one, stop.replicates).pvalue for one, stop in zip(flags, stops, strict=True)]
    return np.mean([stop.replicates for stop in stops]), decisions(pvalues, rule.adjust)


def replicates(tests, share, rng):
    """A row: the mean number of replicates by each rule, and the rejections."""
    learned = round(tests * share)
    p = rng.random(tests)
    p[:learned] = 10 ** -rng.uniform(3, 6, learned)
    flags = list(rng.random((tests, MOST)) < p[:, None])
    full = decisions([(1 + one.sum()) / (MOST + 1) for one in flags])
    gandy = GandyRule(maximum=MOST, alpha=ALPHA, reject_at=ALPHA / tests)
    alone = np.mean([gandy.test(one).n_resamples for one in flags])
    began = time.process_time()
    mean, found = together(JointRule(maximum=MOST, alpha=ALPHA), flags)
    seconds = time.process_time() - began
    holm, _ = together(JointRule(maximum=MOST, alpha=ALPHA, adjust="holm"), flags)
    counts = f"{mean:,.0f} | {holm:,.0f} | {alone:,.0f} | {MOST:,} | {found.sum()} | {full.sum()}"
    return f"| {tests} | {share:.0%} | {counts} | {np.count_nonzero(found != full)} | {1000 * seconds:.0f} |"


def shared(rng, tests, learned, alike, rows=20, permutations=400):
    """Exceedances of tests of the same rows under the same permutations of labels; `alike`: how features depend."""
    x = rng.standard_normal((rows, tests))
    common = rng.standard_normal(rows)[:, None]
    sign = np.resize([1, -1], tests) if alike == "opposite" else np.ones(tests)
    x = x if alike == "no" else 0.9 * common * sign + 0.44 * x
    labels = np.resize([-1.0, 1.0], rows)[np.argsort(rng.random((permutations + 1, rows)), axis=1)]
    x[:, :learned] += 1.2 * labels[0][:, None]
    found = labels @ x
    return list((found[1:] >= found[0]).T)


def discoveries(alike, learned, rng, trials=2000, tests=24):
    """A row: the mean share of false rejections among all, and how often there is any."""
    shares, rule = [], JointRule(maximum=400, alpha=ALPHA)
    for _ in range(trials):
        _, found = together(rule, shared(rng, tests, learned, alike))
        shares.append(found[learned:].sum() / max(1, found.sum()))
    mean, error, ever = np.mean(shares), np.std(shares) / np.sqrt(trials), np.mean(np.array(shares) > 0)
    return f"| {alike} | {learned} of {tests} | {mean:.4f} ± {error:.4f} | {ever:.4f} |"


def main():
    rng = np.random.default_rng(1)
    print("# Tests stopped together\n")
    print(
        f"Python {platform.python_version()}, NumPy {np.__version__}, {os.cpu_count()} cores, one thread. "
        "`OMP_NUM_THREADS=1 python benchmarks/joint.py`;\nat the level 0.05, at most 9,999 replicates a test. "
        "Learned tests have p\nfrom 10^-6 to 10^-3, the others any. `gandy` rejects at 0.05 over the number of tests, "
        "as it must if it stops each test separately.\n\n## Replicates a test\n"
    )
    print("Rejections by Benjamini and Hochberg; `otherwise` counts the tests that are decided otherwise.\n")
    heads = (
        "tests",
        "learned",
        "joint",
        "joint, Holm",
        "gandy",
        "all",
        "rejected",
        "by all",
        "otherwise",
        "ms to decide",
    )
    print(f"| {' | '.join(heads)} |")
    print("|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    for tests in (240, 480):
        for share in (0.95, 0.5, 0.1, 0.0):
            print(replicates(tests, share, rng), flush=True)
    print(
        "\n## False discoveries where tests share rows, labels and permutations\n\n"
        "24 features of the same 20 rows, tested by the same permutations of the labels, 400 at most; 2,000 trials. "
        "Features are\nindependent, alike (correlation 0.8), or alike and opposite by turns.\n"
    )
    print("| alike | learned | false share of rejections | any false rejection |\n|---|---:|---:|---:|")
    for alike in ("no", "yes", "opposite"):
        for learned in (0, 12):
            print(discoveries(alike, learned, rng), flush=True)


if __name__ == "__main__":
    main()
