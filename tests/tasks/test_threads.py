"""One thread for numerical libraries, whoever comes and goes beside it."""

import threading

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from sigstats.tasks.threads import threads


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
