"""A comparison as JUnit's XML, which continuous integration shows as tests."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree import ElementTree as ET

from sigstats._common.printable import printable
from sigstats.comparison.candidates import CandidatesResult
from sigstats.comparison.cells import cells_of
from sigstats.comparison.result import ComparisonResult
from sigstats.comparison.sentences import reason_of, title_of

#: Characters that XML 1.0 cannot represent, not even escaped.
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True)
class Case:
    """A test case: its class and name, the verdict of its row, why it failed or was skipped, and what it found."""

    classname: str
    name: str
    verdict: str | None
    why: str
    output: str
    failed: bool


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


def suite_of(name: str, cases: Sequence[Case]) -> ET.Element:
    """A suite of test cases; one that was not tested and has not failed is skipped."""
    suite = ET.Element("testsuite", name=_valid(name))
    for each in cases:
        case = ET.SubElement(suite, "testcase", classname=each.classname, name=_valid(each.name))
        if each.failed:
            failure = ET.SubElement(case, "failure", type=each.verdict or "not tested")
            failure.set("message", _valid(each.why))
        elif each.verdict is None:
            ET.SubElement(case, "skipped", message=_valid(each.why))
        ET.SubElement(case, "system-out").text = _valid(each.output)
    suite.set("tests", str(len(cases)))
    suite.set("failures", str(len(suite.findall("testcase/failure"))))
    suite.set("skipped", str(len(suite.findall("testcase/skipped"))))
    suite.set("errors", "0")
    return suite


def _suite(found: ComparisonResult, baseline: str, candidate: str, fail_on_inconclusive: bool) -> ET.Element:
    failing = ("fail", "inconclusive") if fail_on_inconclusive else ("fail",)
    cases = []
    for row in found.rows:
        failed = row.verdict in failing or (row.unanswered and "inconclusive" in failing)
        why = reason_of(row, found.rule) if failed else row.note
        output = "  ".join((*cells_of(row), row.test, row.note))
        name = f"{row.name} on {row.slice}"
        cases.append(Case(f"sigstats.compare.{row.name}", name, row.verdict, why, output, failed=failed))
    return suite_of(f"{candidate} against {baseline}", cases)


def _valid(text: str) -> str:
    return _NO_XML.sub("\N{REPLACEMENT CHARACTER}", printable(text))
