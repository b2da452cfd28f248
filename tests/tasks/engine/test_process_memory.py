"""A worker keeps freed memory for later blocks, as the system counts pages."""

import subprocess
import sys

import pytest

CODE = """
import resource
import numpy as np
from sigstats.tasks.engine.process_memory import keep_freed_memory

def pages():
    "The pages that the system gave this process for a hundred arrays of 200, of which one is there at a time."
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(100):
        np.ones(200 * 4096, dtype=np.uint8)
    return (resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before) / 100

pages()
before = pages()
keep_freed_memory()
pages()
print(round(before), round(pages()))
"""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the thresholds are those of GNU's C library")


def pages(**thresholds):
    """The pages of an array before the memory is kept, and then."""
    done = subprocess.run([sys.executable, "-c", CODE], env=thresholds, capture_output=True, text=True, check=True)
    return [int(number) for number in done.stdout.split()]


def test_a_worker_of_dask_keeps_freed_memory_for_later_arrays():
    before, after = pages(MALLOC_TRIM_THRESHOLD_="65536")
    assert before > 150
    assert after < 20


@pytest.mark.long
@pytest.mark.parametrize(
    "thresholds",
    [{"MALLOC_TRIM_THRESHOLD_": "4096"}, {"MALLOC_TRIM_THRESHOLD_": "65536", "MALLOC_MMAP_THRESHOLD_": "65536"}],
)
def test_thresholds_that_a_person_has_set_stay(thresholds):
    assert min(pages(**thresholds)) > 150


def test_a_process_without_thresholds_adapts_them_by_itself():
    assert max(pages()) < 20
