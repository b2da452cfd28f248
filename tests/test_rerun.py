"""Failing tests of real processes are run once more by themselves, and no others are."""

from pathlib import Path

import pytest

CONFTEST = f"""\
import sys
sys.path.insert(0, {str(Path(__file__).parents[1])!r})
from tests.rerun import Rerun

def pytest_configure(config):
    config.addinivalue_line("markers", "processes: starts real processes")
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Rerun(config), "rerun")
"""

#: A test that fails the first time it is run, and passes the second.
FLAKY = """
@pytest.mark.processes
def test_flaky_{0}():
    before = Path("{0}.ran")
    if not before.exists():
        before.touch()
        raise AssertionError("among the others")
"""


@pytest.fixture(autouse=True)
def only_these_plugins(monkeypatch):
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")


def outcome(pytester, body, *options):
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile("from pathlib import Path\nimport pytest\n" + body)
    return pytester.runpytest_subprocess(*options)


@pytest.mark.long
@pytest.mark.parametrize("options", [(), ("-p", "xdist", "-n", "2")], ids=["one process", "two workers"])
def test_one_that_passes_by_itself_is_named_and_the_run_passes(pytester, options):
    done = outcome(pytester, FLAKY.format("a") + "\ndef test_other():\n    pass\n", *options)
    assert done.ret == 0
    done.stdout.fnmatch_lines(["*AssertionError: among the others", "*test_flaky_a: failed, then passed by itself"])
    done.stdout.fnmatch_lines(["*1 passed, 1 flaky in*"])


@pytest.mark.long
def test_two_of_them_fail_the_run(pytester):
    done = outcome(pytester, FLAKY.format("a") + FLAKY.format("b"))
    assert done.ret == 1
    named = [f"*test_flaky_{name}: failed, then passed by itself" for name in "ab"]
    done.stdout.fnmatch_lines([*named, "2 tests passed only by themselves, which fails the run; expected at most 1"])


@pytest.mark.long
def test_one_that_fails_again_fails_the_run_with_both_outcomes(pytester):
    body = '@pytest.mark.processes\ndef test_broken():\n    Path("ran").open("a").write("x")\n    assert False\n'
    done = outcome(pytester, body)
    assert done.ret == 1
    assert (pytester.path / "ran").read_text() == "xx"
    done.stdout.fnmatch_lines(["*its failure by itself:", "*test_broken: failed, then failed again"])


@pytest.mark.long
def test_a_fixture_that_fails_counts_as_the_test(pytester):
    body = FLAKY.format("a").replace("test_flaky_a()", "fixture()").replace("@pytest.mark.processes", "@pytest.fixture")
    done = outcome(pytester, body + "\n@pytest.mark.processes\ndef test_it(fixture):\n    pass\n")
    assert done.ret == 0
    done.stdout.fnmatch_lines(["*test_it: failed, then passed by itself"])


@pytest.mark.long
@pytest.mark.parametrize("options", [(), ("-x",)], ids=["ordinary", "stop at the first"])
def test_others_are_not_run_again(pytester, options):
    mark = "@pytest.mark.processes\n" if options else ""
    done = outcome(
        pytester, mark + 'def test_it():\n    Path("ran").open("a").write("x")\n    assert False\n', *options
    )
    assert done.ret == 1
    assert (pytester.path / "ran").read_text() == "x"


def test_many_failures_are_not_run_again(pytester):
    body = "".join(f"@pytest.mark.processes\ndef test_{number}():\n    assert False\n" for number in range(6))
    done = outcome(pytester, body)
    assert done.ret == 1
    done.stdout.fnmatch_lines(["*test_5: failed, then not run again"])
