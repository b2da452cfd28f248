"""Compile the code that Numba compiles for this processor, so that no run waits for it.

Run it once after sigstats is installed with the extra fast: then neither the first study nor any worker waits for the
compiler. Given a study, it compiles only the code that its classifiers need, or all code if it knows none of them.
"""

import argparse
import os
import time
from typing import get_args

from ..errors import DONE, BadInput

_TREES = ("decision-tree", "sklearn.ensemble.RandomForestClassifier", "sklearn.ensemble.ExtraTreesClassifier")
#: Callers of compiled code, in descending order of compile time.
_CLASSIFIERS = (*_TREES, "c4.5", "sklearn.ensemble.HistGradientBoostingClassifier", "1-nn")

GROUP = "this machine"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``sigstats warm-up``."""
    parser.add_argument("study", nargs="?", metavar="STUDY", help="study file or ready study (default: everything)")


def run(options: argparse.Namespace) -> int:
    """Call the compiled code of studies on small data, in as many processes as there are processors."""
    try:
        import numba  # noqa: F401 - fails early if Numba is missing or broken
    except ImportError:
        raise BadInput("warm-up: Numba is missing; expected the extra fast: pip install 'sigstats[fast]'") from None
    from concurrent.futures import ProcessPoolExecutor, as_completed
    from multiprocessing import get_context

    from joblib import cpu_count

    wanted = _named(options.study)
    # All trees share code, which one process compiles.
    trees = [name for name in wanted if name in _TREES]
    jobs = [name for name in wanted if name not in trees[1:]]
    print(f"compiling for this processor, once: {', '.join(wanted)}", flush=True)  # noqa: T201
    began = time.monotonic()
    with ProcessPoolExecutor(min(cpu_count(), len(jobs)), mp_context=get_context("spawn")) as pool:
        submitted = [pool.submit(_compile, job) for job in jobs]
        for done in as_completed(submitted):
            folder = done.result()
    print(f"compiled in {folder} ({time.monotonic() - began:.0f} s)")  # noqa: T201
    return DONE


def _named(study: str | None) -> list[str]:
    if study is None:
        return list(_CLASSIFIERS)
    from ..benchmark.model import learners
    from ..running.kind import find_study

    asked = learners(find_study(study)[0])
    return [name for name in _CLASSIFIERS if name in asked] or list(_CLASSIFIERS)


def _compile(classifier: str) -> str:
    """Compile the code of a classifier; return the folder of Numba's cache."""
    os.environ["OMP_NUM_THREADS"] = "1"
    import numpy as np

    from sigstats import permutation_test
    from sigstats.learners.base import Null, compiled

    features = np.tile([[0.5, 1.0], [1.5, 2.0], [2.5, 1.0], [3.5, 2.0]], (4, 1))
    label = np.repeat([0, 1], 8)
    for null in get_args(Null):
        permutation_test(classifier, features, label, null=null, cv=2, n_resamples=1, rng=0)
    return str(compiled("trees").predict_all.stats.cache_path)
