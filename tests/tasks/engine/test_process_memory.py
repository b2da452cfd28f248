"""Freed memory is kept while blocks are computed, as the system counts pages, and returned as before after that."""

import json
import subprocess
import sys

import pytest

CODE = """
import json, resource
import numpy as np
from sigstats.tasks.engine.process_memory import kept_memory

def pages():
    "The pages that the system gave this process for a hundred arrays of 200, of which one is there at a time."
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(100):
        np.ones(200 * 4096, dtype=np.uint8)
    return (resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before) / 100

pages()
found = [pages()]
with kept_memory():
    pages()
    found += [pages()]
    with kept_memory():
        found += [pages()]
    found += [pages()]
found += [pages()]
print(json.dumps([round(each) for each in found]))
"""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the thresholds are those of GNU's C library")


def pages(**thresholds):
    done = subprocess.run([sys.executable, "-c", CODE], env=thresholds, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_a_worker_of_dask_keeps_freed_memory_for_the_arrays_of_a_block():
    before, *inside, after = pages(MALLOC_TRIM_THRESHOLD_="65536")
    assert before > 150
    assert max(inside) < 20
    assert after > 150


@pytest.mark.long
@pytest.mark.parametrize(
    "thresholds",
    [{"MALLOC_TRIM_THRESHOLD_": "4096"}, {"MALLOC_TRIM_THRESHOLD_": "65536", "MALLOC_MMAP_THRESHOLD_": "65536"}],
)
def test_thresholds_that_a_person_has_set_stay(thresholds):
    assert min(pages(**thresholds)) > 150


def test_a_process_without_thresholds_adapts_them_by_itself():
    assert max(pages()) < 20
