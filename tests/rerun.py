"""A test of real processes that fails is run once more by itself, when everything else has ended.

Such a test depends on a machine that others use too. One that fails among the others and passes by itself is flaky:
both outcomes are printed, and the run passes if it was the only one. An ordinary test that fails is not run again.
"""

import subprocess
import sys

import pytest

#: So many flaky tests fail a run.
TOO_MANY = 2
#: With more failures than this something is broken, and running each of them once more would only take time.
MOST = 5


class Rerun:
    """The plugin, in the process that collects the reports."""

    def __init__(self, config):
        self.config = config
        self.failed = {}
        self.again = {}

    def pytest_runtest_logreport(self, report):
        if report.failed and "processes" in report.keywords:
            self.failed.setdefault(report.nodeid, []).append(report)

    @pytest.hookimpl(trylast=True)  # once xdist has ended its workers
    def pytest_sessionfinish(self, session, exitstatus):
        terminal = self.config.pluginmanager.get_plugin("terminalreporter")
        if session.shouldfail or session.shouldstop or exitstatus != pytest.ExitCode.TESTS_FAILED:
            return
        if len(self.failed) > MOST:
            return
        for nodeid in self.failed:
            terminal.write_line(f"{nodeid} failed and is run once more by itself")
            self.again[nodeid] = _alone(nodeid, self.config.rootpath)
        flaky = [nodeid for nodeid, done in self.again.items() if done.returncode == 0]
        for nodeid in flaky:
            for report in self.failed[nodeid]:
                terminal.stats["failed" if report.when == "call" else "error"].remove(report)
            terminal.stats.setdefault("flaky", []).append(self.failed[nodeid][0])
        left = terminal.stats.get("failed") or terminal.stats.get("error")
        if not left and len(flaky) < TOO_MANY:
            session.exitstatus = pytest.ExitCode.OK

    @pytest.hookimpl(trylast=True)  # the last thing that is said
    def pytest_terminal_summary(self, terminalreporter):
        if not self.failed:
            return
        say = terminalreporter
        say.section("tests of real processes that failed")
        for nodeid, reports in self.failed.items():
            done = self.again.get(nodeid)
            if done is not None and done.returncode == 0:
                say.write_line(f"{nodeid}: its failure among the other tests:")
                say.write_line("".join(report.longreprtext for report in reports))
            elif done is not None:
                say.write_line(f"{nodeid}: its failure by itself:")
                say.write_line(done.stdout)
        for nodeid in self.failed:
            done = self.again.get(nodeid)
            second = "not run again" if done is None else "passed by itself" if done.returncode == 0 else "failed again"
            say.write_line(f"{nodeid}: failed, then {second}")
        flaky = len(say.stats.get("flaky", ()))
        if flaky >= TOO_MANY:
            say.write_line(f"{flaky} tests passed only by themselves, which fails the run; expected at most 1")


def _alone(nodeid, root):
    """A run of one test, by a pytest of its own."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:rerun", nodeid]
    return subprocess.run(
        command, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False
    )
