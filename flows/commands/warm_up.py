"""Compile what Numba compiles for this processor, so that no run waits for it.

Run it once after sigstats is installed with the extra fast: then neither the first study nor any worker waits for the
compiler. With the name of a study, it compiles what the classifiers of this study need.
"""

import argparse
import os
import time
from typing import Literal

from ..errors import DONE, BadInput

_FORESTS = ("sklearn.ensemble.RandomForestClassifier", "sklearn.ensemble.ExtraTreesClassifier")
_BOOSTING = "sklearn.ensemble.HistGradientBoostingClassifier"

#: What calls compiled code, those that compile for longest first; each is compiled in a process of its own.
_CLASSIFIERS = (*_FORESTS, "decision-tree", "c4.5", _BOOSTING, "naive-bayes", "svm", "lda", "1-nn")

GROUP = "this machine"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``sigstats warm-up``."""
    parser.add_argument(
        "study", nargs="?", metavar="STUDY", help="a study file or a ready study; default: all there is"
    )


def run(options: argparse.Namespace) -> int:
    """Call what studies use on small data, in as many processes as there are processors."""
    try:
        import numba  # noqa: F401 - it is slow to import, and its processes import it themselves
    except ImportError:
        raise BadInput("warm-up: Numba is missing; expected the extra fast: pip install 'sigstats[fast]'") from None
    from concurrent.futures import ProcessPoolExecutor, as_completed
    from multiprocessing import get_context

    from joblib import cpu_count

    wanted = _wanted(options.study)
    print(f"compiling for this processor, once: {', '.join(wanted)}", flush=True)  # noqa: T201
    began = time.monotonic()
    with ProcessPoolExecutor(min(cpu_count(), len(wanted)), mp_context=get_context("spawn")) as pool:
        for done in as_completed([pool.submit(_compile, name) for name in wanted]):
            folder = done.result()
    print(f"compiled in {folder} ({time.monotonic() - began:.0f} s)")  # noqa: T201
    return DONE


def _wanted(study: str | None) -> list[str]:
    """All that can be compiled, or what a study's classifiers need."""
    if study is None:
        return list(_CLASSIFIERS)
    from ..config.toml_files import place_of
    from ..studies import load_study
    from ..studies.benchmark import learners

    asked = learners(load_study(place_of(study).path))
    return [name for name in _CLASSIFIERS if name in asked] or list(_CLASSIFIERS)


def _compile(name: str) -> str:
    """Compile what one of these calls; return the folder in which Numba keeps it."""
    os.environ["OMP_NUM_THREADS"] = "1"
    _retrain(name)
    from sigstats.learners.door import compiled

    return str(compiled("trees").predict_sorted_fold.stats.cache_path)


def _retrain(classifier: str) -> None:
    import numpy as np

    from sigstats import permutation_test

    features = np.tile([[0.5, 1.0], [1.5, 2.0], [2.5, 1.0], [3.5, 2.0]], (4, 1))
    label = np.repeat([0, 1], 8)
    nulls: tuple[Literal["labels", "features"], ...] = ("labels",) if classifier == "lda" else ("labels", "features")
    if classifier in ("lda", "naive-bayes"):
        features = features + np.arange(32).reshape(16, 2) % 5
    for null in nulls:
        permutation_test(classifier, features, label, null=null, cv=2, n_resamples=1, rng=0)
    if classifier in _FORESTS:  # more levels than 8 bits can number
        fine = np.linspace(0.0, 1.0, 600)[:, np.newaxis]
        permutation_test(classifier, fine, np.arange(600) % 2, cv=2, n_resamples=1, rng=0)
