"""One thread for numerical libraries, whoever comes and goes; and freed memory, as the system counts pages."""

import subprocess
import sys
import threading

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from sigstats.tasks.process import threads


def numbers(api="blas"):
    """The numbers of threads of the libraries of this kind, as this thread sees them."""
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == api}


@pytest.fixture
def several():
    """Three threads for each library, where it is built for more than one."""
    np.ones((4, 4)) @ np.ones((4, 4))
    with threadpool_limits(3):
        if numbers() != {3}:
            pytest.skip("this BLAS has one thread only")
        yield


def test_libraries_have_one_thread_inside_and_what_they_had_after(several):
    with threads(1):
        assert numbers() == {1}
        with threads(1):
            assert numbers() == {1}
        assert numbers() == {1}
    assert numbers() == {3}


def test_also_after_an_error(several):
    with pytest.raises(ZeroDivisionError), threads(1):
        raise ZeroDivisionError
    assert numbers() == {3}


def test_one_that_leaves_does_not_give_threads_to_those_inside(several):
    inside, left, seen = threading.Event(), threading.Event(), []

    def second():
        with threads(1):
            inside.set()
            assert left.wait(60)
            seen.append((numbers(), numbers("openmp") - {1}))

    other = threading.Thread(target=second)
    with threads(1):
        other.start()
        assert inside.wait(60)
    left.set()
    other.join(60)
    assert seen == [({1}, set())]
    assert numbers() == {3}


CODE = """
import resource
import numpy as np
from sigstats.tasks.process import keep_freed_memory

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
