"""A comparison as JUnit's XML, which continuous integration shows as tests."""

import re
from collections.abc import Sequence
from xml.etree import ElementTree as ET

from sigstats._common.printable import printable
from sigstats.comparison.candidates import CandidatesResult
from sigstats.comparison.cells import cells_of
from sigstats.comparison.result import ComparisonResult
from sigstats.comparison.sentences import reason_of, title_of

#: Characters that XML 1.0 cannot represent, not even escaped.
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def as_junit(found: ComparisonResult, baseline: str, candidate: str, *, fail_on_inconclusive: bool = False) -> str:
    """A test case for each row; one that fails, or is inconclusive where that fails too, has the reason."""
    return _document(title_of(found), [_suite(found, baseline, candidate, fail_on_inconclusive)])


def candidates_as_junit(found: CandidatesResult, *, fail_on_inconclusive: bool = False) -> str:
    """The same, with a test suite for each candidate."""
    pairs = zip(found.candidates, found.results, strict=True)
    return _document(
        found.recommendation,
        [_suite(result, found.baseline, candidate, fail_on_inconclusive) for candidate, result in pairs],
    )


def _document(name: str, suites: Sequence[ET.Element]) -> str:
    root = ET.Element("testsuites", name=_valid(name))
    root.extend(suites)
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode")


def _suite(found: ComparisonResult, baseline: str, candidate: str, fail_on_inconclusive: bool) -> ET.Element:
    failing = ("fail", "inconclusive") if fail_on_inconclusive else ("fail",)
    suite = ET.Element("testsuite", name=_valid(f"{candidate} against {baseline}"))
    for row in found.rows:
        case = ET.SubElement(
            suite, "testcase", classname=f"sigstats.compare.{row.name}", name=_valid(f"{row.name} on {row.slice}")
        )
        failed = row.verdict in failing or (row.unanswered and "inconclusive" in failing)
        if failed:
            failure = ET.SubElement(case, "failure", type=row.verdict or "not tested")
            failure.set("message", _valid(reason_of(row, found.rule)))
        elif row.verdict is None:
            ET.SubElement(case, "skipped", message=_valid(row.note))
        ET.SubElement(case, "system-out").text = _valid("  ".join((*cells_of(row), row.test, row.note)))
    suite.set("tests", str(len(found.rows)))
    suite.set("failures", str(len(suite.findall("testcase/failure"))))
    suite.set("skipped", str(len(suite.findall("testcase/skipped"))))
    suite.set("errors", "0")
    return suite


def _valid(text: str) -> str:
    return _NO_XML.sub("\N{REPLACEMENT CHARACTER}", printable(text))
