"""Counted test sets a processor-second: test sets that a calibration draws and tests, compared with scalar calls.

OMP_NUM_THREADS=1 python benchmarks/counted.py > benchmarks/counted.md
"""

import os
import platform
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy

import sigstats
from sigstats.joint.outcomes import JointOutcomes
from sigstats.proportions import dcf_test, proportion_test
from sigstats.tasks.calibration.population import Population
from sigstats.tasks.calibration.work import AppliedTest, OnTestSets, Tallied
from sigstats.tasks.fan_out import cell_of, fanout
from sigstats.tasks.storage.store import Store

SHARES, SETS, SCALAR = (0.40, 0.06, 0.05, 0.04, 0.03, 0.05, 0.04, 0.33), 400_000, 2_000
COSTS = {"cost_fn": 1.0, "cost_fp": 1.0, "prior": 0.5}
SIDE = {"alternative": "two-sided"}
LINES = {
    "McNemar, exact": ("subsample", "mcnemar", {"method": "exact", **SIDE}),
    "McNemar, exact, rates only": ("tally", "mcnemar", {"method": "exact", **SIDE}),
    "McNemar, mid-p": ("subsample", "mcnemar", {"method": "mid-p", **SIDE}),
    "proportions, eq. (6)": ("subsample", "proportion", {"paired": True, **SIDE}),
    "detection costs, eq. (9)": ("subsample", "dcf", {"paired": True, **COSTS, **SIDE}),
    "F1 of one, exact": ("interval", "f1-interval", {"of": "a", "method": "exact", "confidence": 0.95}),
    "F1 of one, Wilson": ("interval", "f1-interval", {"of": "a", "method": "wilson", "confidence": 0.95}),
}
BY_ITSELF: dict[str, Callable[..., Any]] = {
    "mcnemar": lambda joint, **options: sigstats.mcnemar_test(*joint.discordant, **options).pvalue,
    "proportion": lambda joint, **options: proportion_test(joint, **options).pvalue,
    "dcf": lambda joint, **options: dcf_test(joint, **options).pvalue,
    "f1-interval": lambda joint, *, of, method, confidence: sigstats.f1_interval(
        *(joint.confusion_a.tp, joint.confusion_a.fp, joint.confusion_a.fn), method=method, confidence_level=confidence
    ),
}


def counted(name, test, options, n, sets, store):
    """Test sets a processor-second of a block: drawn, tested and put into a table."""
    population = Population(outcomes=SHARES, endless=True, swapped=False)
    of = {"n": n, "test": AppliedTest(test=test, options=options), "population": population}
    work = Tallied(**of, alpha=0.05) if name == "tally" else OnTestSets(**of)
    made = cell_of(name, subject={"test": test}, work=work, seed=1, replicates=sets)
    began = time.process_time()
    fanout(name).compute(made.block(0, made.lanes), store, work)
    return sets / (time.process_time() - began)


def scalar(test, options, n):
    """The same with a record and a call for each test set, the draw left out."""
    drawn = Population(outcomes=SHARES, endless=True).draw(n, np.random.default_rng(1), SCALAR)
    began = time.process_time()
    for counts in drawn.tolist():
        BY_ITSELF[test](JointOutcomes(*counts), **options)
    return SCALAR / (time.process_time() - began)


def main():
    store = Store(tempfile.mkdtemp())
    counted("subsample", "mcnemar", LINES["McNemar, exact"][2], 20, 1000, store)  # imports
    print("# Counted test sets\n")
    versions = f"Python {platform.python_version()}, NumPy {np.__version__}, SciPy {scipy.__version__}"
    print(
        f"{versions}, {os.cpu_count()} cores, one thread, a busy machine.\n"
        "`OMP_NUM_THREADS=1 python benchmarks/counted.py`: test sets per processor-second, "
        f"of {SETS:,} drawn\nfrom eight probabilities, including the draw and the table, compared with {SCALAR:,} "
        "scalar calls without the draw.\n"
    )
    print("| test | rows | test sets a second | scalar calls a second | ratio | processor-hours for 10^9 |")
    print("|---|---:|---:|---:|---:|---:|")
    for title, (name, test, options) in LINES.items():
        for n in (200, 2000):
            many, one = counted(name, test, options, n, SETS, store), scalar(test, options, n)
            print(
                f"| {title} | {n:,} | {many:,.0f} | {one:,.0f} | {many / one:.0f} | {1e9 / many / 3600:.1f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
