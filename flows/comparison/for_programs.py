"""JSON of comparisons (of one candidate or several) and checks, and JUnit's XML for continuous integration."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, fields
from functools import partial
from typing import Any
from xml.etree import ElementTree as ET

from sigstats._common.messages import notes_as_objects, printable
from sigstats.comparison.answer import Answer, reason_of, reasons
from sigstats.comparison.cells import cells_of
from sigstats.comparison.check import result as check_result
from sigstats.comparison.check.result import CheckResult, reasons_of, rule_of
from sigstats.comparison.result import CandidatesResult, ComparisonResult, rule_in_words
from sigstats.comparison.rule import failing_verdicts
from sigstats.intervals import Interval

#: The version of the form of the JSON, increased when it changes.
JSON_VERSION = 2
#: Names of attributes of comparison rows and other results in JSON and histories.
KEYS_OF_ROWS = {
    "pvalue": "p_worse",
    "two_sided_pvalue": "p_differs",
    "adjusted_pvalue": "p_adjusted",
    "equivalence_pvalue": "p_equivalent",
}
_KEYS_OF_CHECKS = {"adjusted_pvalue": "p_adjusted"}


def row_as_object(row: Any, keys: Mapping[str, str] = KEYS_OF_ROWS) -> dict[str, Any]:
    """Return a row as an object; intervals are pairs, and their level is in the rule."""
    values = {of.name: getattr(row, of.name) for of in fields(row) if of.repr and of.name != "confidence_level"}
    for name in ("change", "windows", "against_bar"):  # only regression studies have these
        if not values.get(name, True):
            del values[name]
    return {keys.get(name, name): tuple(v) if isinstance(v, Interval) else v for name, v in values.items()}


def as_json(result: ComparisonResult, baseline: str, candidate: str, entries: Mapping[str, Any] | None = None) -> str:
    """Return all results, rows by the fields of `ComparisonRow` except those of `KEYS_OF_ROWS`; `entries` come last."""
    return _written({**_content(result, baseline, candidate), **(entries or {})})


def candidates_as_json(comparison: CandidatesResult) -> str:
    """Return the overview, and the comparison of each candidate."""
    content = {
        "version": JSON_VERSION,
        "verdict": comparison.verdict,
        "baseline": comparison.baseline,
        "take": comparison.take,
        "better": list(comparison.better),
        "recommendation": comparison.recommendation,
        "candidates": [
            {**_content(result, comparison.baseline, candidate), "p_better": p_better}
            for candidate, result, p_better in zip(
                comparison.candidates, comparison.results, comparison.p_better, strict=True
            )
        ],
    }
    return _written(content)


def check_as_json(result: CheckResult, file: str) -> str:
    """Return all results; rows under the names of the fields of `CheckedRow`, except those of `_KEYS_OF_CHECKS`."""
    content = {
        "version": JSON_VERSION,
        "verdict": result.verdict,
        "answer": answer_as_object(result.answer, _KEYS_OF_CHECKS),
        "file": file,
        "at_most" if result.at_most else "at_least": result.bar,
        "n": result.n,
        "rule": {**result.rule.by_keys(), "in_words": rule_of(result)},
        "reasons": reasons_of(result),
        "notes": notes_as_objects(result.notes),
        "rows": [row_as_object(row, _KEYS_OF_CHECKS) for row in result.rows],
    }
    return _written(content)


def answer_as_object(answer: Answer[Any], keys: Mapping[str, str] = KEYS_OF_ROWS) -> dict[str, Any]:
    """Return the answer; `row` and `better` as in `rows`."""
    return {
        "headline": answer.headline,
        "advice": answer.advice,
        "row": None if answer.row is None else row_as_object(answer.row, keys),
        "better": [row_as_object(row, keys) for row in answer.better],
        "also": [f"{label} {words}" for label, words in answer.also],
    }


def _content(result: ComparisonResult, baseline: str, candidate: str) -> dict[str, Any]:
    joint = None if result.joint is None else asdict(result.joint)
    if joint is not None:
        joint = {"replicates" if name == "n_resamples" else name: value for name, value in joint.items()}
        del joint["confidence_interval"]
    roles = ("baseline", "candidate")
    subjects = None if result.subjects is None else dict(zip(roles, map(dict, result.subjects), strict=True))
    return {
        "version": JSON_VERSION,
        "verdict": result.verdict,
        "answer": answer_as_object(result.answer),
        "identical": result.identical,
        "baseline": baseline,
        "candidate": candidate,
        "n": result.n,
        "items": result.items,
        "subjects": subjects,
        "rule": {**result.rule.by_keys(), "in_words": rule_in_words(result)},
        "reasons": reasons(result),
        "joint": joint,
        "notes": notes_as_objects(result.notes),
        "rows": [row_as_object(row) for row in result.rows],
    }


def _written(content: dict[str, Any]) -> str:
    return json.dumps(content, indent=2, allow_nan=False)


#: Characters that XML 1.0 cannot represent, not even escaped.
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def as_junit(result: ComparisonResult, baseline: str, candidate: str, *, fail_on_inconclusive: bool = False) -> str:
    """Write a test case for each row, with the reason if it fails, or is inconclusive and that counts as a fail."""
    return _document(result.answer.headline, [_pair_suite(result, baseline, candidate, fail_on_inconclusive)])


def candidates_as_junit(comparison: CandidatesResult, *, fail_on_inconclusive: bool = False) -> str:
    """Write JUnit's XML with a test suite for each candidate."""
    pairs = zip(comparison.candidates, comparison.results, strict=True)
    suites = [_pair_suite(result, comparison.baseline, candidate, fail_on_inconclusive) for candidate, result in pairs]
    return _document(comparison.recommendation, suites)


def check_as_junit(result: CheckResult, file: str, *, fail_on_inconclusive: bool = False) -> str:
    """Write JUnit's XML for a check."""
    reason, of_row = partial(check_result.reason_of, result=result), check_result.cells_of
    suite = _suite(f"{file} against {result.bar:g}", "check", result, of_row, reason, fail_on_inconclusive)
    return _document(result.answer.headline, [suite])


def _pair_suite(result: ComparisonResult, baseline: str, candidate: str, strict: bool) -> ET.Element:
    reason = partial(reason_of, rule=result.rule)
    return _suite(f"{candidate} against {baseline}", "compare", result, cells_of, reason, strict)


def _suite(
    name: str,
    command: str,
    result: ComparisonResult | CheckResult,
    of_row: Callable[[Any], Mapping[str, str]],
    reason: Callable[[Any], str],
    strict: bool,
) -> ET.Element:
    """Return a test case for each row, with its numbers; those that are inconclusive or not tested are skipped."""
    suite, answer = ET.Element("testsuite", name=_valid(name)), result.answer
    properties = ET.SubElement(suite, "properties")
    for label, words in (("Advice:", answer.advice), *answer.also):
        ET.SubElement(properties, "property", name=label.lower().rstrip(":"), value=_valid(words))
    for row in result.rows:
        named = f"{row.name} on {row.slice}"
        case = ET.SubElement(suite, "testcase", classname=f"sigstats.{command}.{row.name}", name=_valid(named))
        if row.verdict in failing_verdicts(strict) or (strict and row.unanswered):
            failure = ET.SubElement(case, "failure", type=row.verdict or "not tested")
            failure.set("message", _valid(reason(row)))
        elif row.verdict in (None, "inconclusive"):
            ET.SubElement(case, "skipped", message=_valid(row.note if row.verdict is None else reason(row)))
        numbers = [f"{name}: {cell}" for name, cell in of_row(row).items()]
        text = "; ".join([*numbers, f"test: {row.test}", row.note]).removesuffix("; ")
        ET.SubElement(case, "system-out").text = _valid(text)
    suite.set("tests", str(len(result.rows)))
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
