"""A comparison, of one candidate or several, and a check as JUnit's XML, which continuous integration shows."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TypeVar
from xml.etree import ElementTree as ET

from sigstats._common.messages import printable
from sigstats.comparison import check_result, result
from sigstats.comparison.candidates import CandidatesResult
from sigstats.comparison.cells import cells_of
from sigstats.comparison.check_result import CheckResult
from sigstats.comparison.result import ComparisonResult, ComparisonRow
from sigstats.comparison.rows import CheckedRow
from sigstats.comparison.rule import failing_verdicts

R = TypeVar("R", bound=ComparisonRow | CheckedRow)

#: Characters that XML 1.0 cannot represent, not even escaped.
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def as_junit(found: ComparisonResult, baseline: str, candidate: str, *, fail_on_inconclusive: bool = False) -> str:
    """A test case for each row; one that fails, or is inconclusive where that fails too, has the reason."""
    return _document(result.title_of(found), [_of_pair(found, baseline, candidate, fail_on_inconclusive)])


def candidates_as_junit(found: CandidatesResult, *, fail_on_inconclusive: bool = False) -> str:
    """The same, with a test suite for each candidate."""
    pairs = zip(found.candidates, found.results, strict=True)
    suites = [_of_pair(result, found.baseline, candidate, fail_on_inconclusive) for candidate, result in pairs]
    return _document(found.recommendation, suites)


def check_as_junit(found: CheckResult, file: str, *, fail_on_inconclusive: bool = False) -> str:
    """The same of a check."""
    name = f"{file} against {found.bar:g}"
    reason, of_row = partial(check_result.reason_of, found=found), check_result.cells_of
    suite = _suite(name, "check", found.rows, of_row, reason, fail_on_inconclusive)
    return _document(check_result.title_of(found), [suite])


def _of_pair(found: ComparisonResult, baseline: str, candidate: str, strict: bool) -> ET.Element:
    name = f"{candidate} against {baseline}"
    reason = partial(result.reason_of, rule=found.rule)
    return _suite(name, "compare", found.rows, cells_of, reason, strict)


def _suite(
    name: str,
    command: str,
    rows: Sequence[R],
    of_row: Callable[[R], Mapping[str, str]],
    reason: Callable[[R], str],
    strict: bool,
) -> ET.Element:
    """A test case for each row, with its numbers; those that are inconclusive or not tested are skipped."""
    suite = ET.Element("testsuite", name=_valid(name))
    for row in rows:
        named = f"{row.name} on {row.slice}"
        case = ET.SubElement(suite, "testcase", classname=f"sigstats.{command}.{row.name}", name=_valid(named))
        if row.verdict in failing_verdicts(strict) or (strict and row.unanswered):
            failure = ET.SubElement(case, "failure", type=row.verdict or "not tested")
            failure.set("message", _valid(reason(row)))
        elif row.verdict in (None, "inconclusive"):
            ET.SubElement(case, "skipped", message=_valid(row.note if row.verdict is None else reason(row)))
        numbers = [f"{name}: {cell}" for name, cell in of_row(row).items()]
        said = "; ".join([*numbers, f"test: {row.test}", row.note]).removesuffix("; ")
        ET.SubElement(case, "system-out").text = _valid(said)
    suite.set("tests", str(len(rows)))
    suite.set("failures", str(len(suite.findall("testcase/failure"))))
    suite.set("skipped", str(len(suite.findall("testcase/skipped"))))
    suite.set("errors", "0")
    return suite


def _document(name: str, suites: Sequence[ET.Element]) -> str:
    root = ET.Element("testsuites", name=_valid(name))
    root.extend(suites)
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode")


def _valid(text: str) -> str:
    return _NO_XML.sub("\N{REPLACEMENT CHARACTER}", printable(text))
