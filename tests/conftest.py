"""What all tests share, and which of them `make test` runs.

`make test` runs what is marked neither ``faults`` nor ``long`` nor ``types``, and the fault that is marked ``smoke``.
`make test-rest` runs the others, and those that need a program; `make types` what asks mypy, `make check` all.
"""

import gc
import json
import os
import time
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from threadpoolctl import threadpool_limits

from sigstats.flows.commands import main

from .approx import approx
from .programs import is_of_program
from .rerun import Rerun

pytest_plugins = ["pytester"]

TESTS = Path(__file__).parent

pytest.approx = approx  # before any test module is imported
for variable in ("COLUMNS", "LINES", "FORCE_COLOR", "NO_COLOR"):  # of the terminal of who runs the tests
    os.environ.pop(variable, None)
gc.disable()  # until all tests are collected: what is imported stays

# `make check` draws all examples that each property asks for, the other targets a fifth of them, the same at each run,
# so that nobody meets a failure that is not theirs. New ones are drawn at night, by `make test test-rest EXAMPLES=new`.
# None has to be done in so many milliseconds: on a busy machine it is not.
new = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("new", new)
settings.register_profile("full", new, derandomize=True)
settings.register_profile("quick", new, derandomize=True, max_examples=new.max_examples // 5)
settings.load_profile("full")


#: After so many minutes no further test begins: continuous integration has an end, however slow its machine.
MINUTES = float(os.environ.get("SIGSTATS_TEST_MINUTES", "inf"))
BEGUN = time.monotonic()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    if time.monotonic() - BEGUN > 60 * MINUTES:
        pytest.skip(f"{item.nodeid} was not begun within {MINUTES:g} minutes")


def pytest_configure(config):
    if not hasattr(config, "workerinput"):  # a worker of xdist reports to the process that has started it
        config.pluginmanager.register(Rerun(config), "rerun")


def pytest_collection_modifyitems(config, items):
    for item in items:
        if item.nodeid.startswith("tests/faults/"):
            item.add_marker("faults")
        if item.name.endswith(".C45Classifier"):  # its example compiles for half a minute
            item.add_marker("long")
        if any(is_of_program(mark) for mark in item.iter_markers("skipif")):
            item.add_marker("programs")
    # What is long before what is killed, but for the fault of `make test`, which would be last and by itself. Of files
    # of faults, those of many tests come first: one of them at the end would keep a single worker at work. The order
    # within a file stays.
    faults = [item for item in items if item.get_closest_marker("faults") and not item.get_closest_marker("smoke")]
    number = Counter(item.path for item in faults)
    rank = {item: 1 + max(number.values()) - number[item.path] for item in faults}
    items.sort(key=lambda item: rank.get(item, 0))


def pytest_collection_finish():
    """What is imported stays: the collector of cycles need not walk over it again and again.

    The threads of numerical libraries in several workers of xdist wait for each other: each worker has one thread. The
    processes that tests start have as many as they would have by themselves.
    """
    gc.collect()
    gc.freeze()
    gc.enable()
    threadpool_limits(1)


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of the checkout."""
    return TESTS.parent


@pytest.fixture(scope="session")
def shared_data(repository) -> Path:
    """The folder of real data sets beside the checkout; tests that need it are skipped where it is absent."""
    folder = repository.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the real data sets (../shared/data) are not beside this checkout")
    return folder


@pytest.fixture
def refused(capsys):
    """Runs a command that must be refused in one line, with exit code 2; what it says."""

    def run(*arguments):
        capsys.readouterr()
        assert main([str(argument) for argument in arguments]) == 2
        said = capsys.readouterr().err
        assert [line.startswith("sigstats: ") for line in said.splitlines()].count(True) == 1
        return said

    return run


@pytest.fixture
def printed(capsys):
    """Runs a command that ends with `code`, or one of several; what it prints."""

    def run(*arguments, code=0):
        capsys.readouterr()
        assert main([str(argument) for argument in arguments]) in (code if isinstance(code, tuple) else (code,))
        return capsys.readouterr().out

    return run


@pytest.fixture
def answer(printed):
    """Runs a command that ends with `code`, or one of several; its answer, as it is in JSON."""

    def run(*arguments, code=(0, 1)):
        return json.loads(printed(*arguments, "--json", "-", code=code))

    return run
