"""A comparison as JUnit's XML, which continuous integration shows as tests."""

import re
from collections.abc import Callable, Sequence
from typing import TypeVar
from xml.etree import ElementTree as ET

from sigstats._common.messages import printable
from sigstats.comparison.candidates import CandidatesResult
from sigstats.comparison.cells import HEADER, cells_of
from sigstats.comparison.check_result import CheckedRow
from sigstats.comparison.result import ComparisonResult, ComparisonRow
from sigstats.comparison.rule import failing_verdicts
from sigstats.comparison.sentences import reason_of, title_of

R = TypeVar("R", bound=ComparisonRow | CheckedRow)

#: Characters that XML 1.0 cannot represent, not even escaped.
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def suite_of(
    name: str,
    command: str,
    rows: Sequence[R],
    header: Sequence[str],
    cells: Callable[[R], Sequence[str]],
    reason: Callable[[R], str],
    strict: bool,
) -> ET.Element:
    """A test case for each row; one that fails, or is inconclusive or unanswered where `strict`, has the reason.

    A row that is inconclusive or was not tested, and has not failed, is skipped. `header` names the numbers.
    """
    suite = ET.Element("testsuite", name=_valid(name))
    for row in rows:
        named = f"{row.name} on {row.slice}"
        case = ET.SubElement(suite, "testcase", classname=f"sigstats.{command}.{row.name}", name=_valid(named))
        if row.verdict in failing_verdicts(strict) or (strict and row.unanswered):
            failure = ET.SubElement(case, "failure", type=row.verdict or "not tested")
            failure.set("message", _valid(reason(row)))
        elif row.verdict in (None, "inconclusive"):
            ET.SubElement(case, "skipped", message=_valid(row.note if row.verdict is None else reason(row)))
        numbers = [f"{name}: {cell}" for name, cell in zip(header, cells(row), strict=True)]
        ET.SubElement(case, "system-out").text = _valid(
            "; ".join([*numbers, f"test: {row.test}", row.note]).removesuffix("; ")
        )
    suite.set("tests", str(len(rows)))
    suite.set("failures", str(len(suite.findall("testcase/failure"))))
    suite.set("skipped", str(len(suite.findall("testcase/skipped"))))
    suite.set("errors", "0")
    return suite


def as_junit(found: ComparisonResult, baseline: str, candidate: str, *, fail_on_inconclusive: bool = False) -> str:
    """A test case for each row; one that fails, or is inconclusive where that fails too, has the reason."""
    return document(title_of(found), [_suite(found, baseline, candidate, fail_on_inconclusive)])


def candidates_as_junit(found: CandidatesResult, *, fail_on_inconclusive: bool = False) -> str:
    """The same, with a test suite for each candidate."""
    pairs = zip(found.candidates, found.results, strict=True)
    return document(
        found.recommendation,
        [_suite(result, found.baseline, candidate, fail_on_inconclusive) for candidate, result in pairs],
    )


def document(name: str, suites: Sequence[ET.Element]) -> str:
    """The text of a file with these suites."""
    root = ET.Element("testsuites", name=_valid(name))
    root.extend(suites)
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode")


def _suite(found: ComparisonResult, baseline: str, candidate: str, fail_on_inconclusive: bool) -> ET.Element:
    name = f"{candidate} against {baseline}"

    def reason(row: ComparisonRow) -> str:
        return reason_of(row, found.rule)

    return suite_of(name, "compare", found.rows, HEADER, cells_of, reason, fail_on_inconclusive)


def _valid(text: str) -> str:
    return _NO_XML.sub("\N{REPLACEMENT CHARACTER}", printable(text))
