"""Compute replicates in several processes, on one machine or on a cluster by a backend of joblib."""

import multiprocessing
import pickle
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from .._common.random_streams import MAX_RESAMPLES
from .._common.validation import IntArray
from .retrainer import Retrainer

#: Processes are started by default for replicates that take longer than this many seconds.
_LONG = 10.0

#: Chunks of replicates for each process, so that all end at about the same time.
_CHUNKS_EACH = 8


def in_processes(
    compute: Callable[[IntArray], Any],
    retrainer: Retrainer,
    generator: np.random.Generator,
    n_resamples: int,
    n_jobs: int | None,
) -> Any:
    """The results of `compute` for all draws, one after another, as one array.

    The first replicate is timed. Unless `n_jobs` or a configuration of joblib states otherwise, each processor gets a
    process if the others take long.
    """
    from joblib import Parallel, delayed, effective_n_jobs

    began = time.perf_counter()
    first = compute(retrainer.draw(generator, 1))
    rest = n_resamples - 1
    if n_jobs is None and (time.perf_counter() - began) * rest > _LONG and effective_n_jobs(None) == 1:
        n_jobs = -1 if _can_be_sent(compute) else 1
    workers = effective_n_jobs(n_jobs)
    most = max(1, rest // (_CHUNKS_EACH * workers)) if workers > 1 else MAX_RESAMPLES
    chunks = retrainer.chunks(generator, rest, most)
    return np.concatenate([first, *Parallel(n_jobs=n_jobs)(delayed(compute)(draw) for draw in chunks)])


def _can_be_sent(compute: Callable[[IntArray], Any]) -> bool:
    """True if other processes can be started here and can be sent this function with its classifier."""
    if multiprocessing.current_process().daemon or threading.current_thread() is not threading.main_thread():
        return False
    try:
        pickle.dumps(compute)
    except Exception:  # a classifier that holds a connection, for example
        return False
    return True
