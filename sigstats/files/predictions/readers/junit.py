"""JUnit's XML, as pytest and most runners of tests write it: a test case is an item, and right if it passed.

A case that was skipped, did not run, or ended in an error rather than a failed assertion, has no score. Runners state
this by a child, or by attributes (of failures also properties) such as ``status``, ``result`` or NUnit's ``executed``.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from sigstats._common.messages import Note, shown

from ...inputs.content import Content
from .._columns import Columns
from .._log import Answer, EvaluationLog, graded_by, make_answer, missing_answers, other_count

ORDER = 47
NAME = "JUnit's XML"

#: The memory of an element, in bytes.
_ELEMENT = 500
#: The states of a case that passed, and of one that failed; in any other state it did not run.
_PASSED, _FAILED = {"", "run", "completed", "passed", "pass", "success", "ok"}, {"failed", "fail", "failure"}
#: The children of a case that did not run to its end.
_NOT_RUN = ("skipped", "ignored", "todo", "disabled", "error")
_ENDED = {"failure", *_NOT_RUN}
#: Other children that report failures, such as ``flakyFailure`` and ``rerun``.
_OTHER_FAILURES = re.compile("fail|error|flaky|rerun|retr|broke|crash|abort|time-?out")
BEGINS = re.compile(rb"\s*+(<\?xml\s[^>]*+>\s*+)?+(<!--.*?-->\s*+)*+<testsuites?[\s>]", re.DOTALL)


def read(content: Content, columns: Columns) -> EvaluationLog:
    """Read which test cases passed."""
    whole = content.whole()
    content.budget.require(content.budget.spent + _ELEMENT * whole.count(b"<"))
    try:
        root = ElementTree.fromstring(whole)  # noqa: S314 - `BEGINS` leaves no place to declare entities
    except ElementTree.ParseError as error:
        raise ValueError(f"{content.where}: cannot be read as XML ({error})") from None
    cases = [*root.iterfind(".//{*}testcase")]
    children = [{child.tag.rpartition("}")[2].casefold(): child for child in case} for case in cases]
    return EvaluationLog(
        where=content.where,
        harness="JUnit",
        answers=[_answer(content, *case, columns) for case in zip(cases, children, strict=True)],
        kind="score",
        notes=tuple(_notes(content.where, root, children)),
        **graded_by("passed"),
    )


def _notes(where: str, root: Element, cases: Sequence[Mapping[str, Element]]) -> Iterator[Note]:
    """Yield notes on suites that ended in an error, tests that were retried, and counts that differ from the cases."""
    for suite in (root, *root.iterfind(".//{*}testsuite")):
        for error in suite.iterfind("{*}error"):
            problem = f"a suite ended in an error, {shown(error.get('message', ''))}; absent tests are not counted"
            yield Note("absent-tests", f"{where}: {problem}")
    retried = Counter(
        name for case in cases if not _ENDED.intersection(case) for name in case if _OTHER_FAILURES.search(name)
    )
    for name, n in retried.items():
        problem = f"of {len(cases):,} tests contain <{name}>; they count as passed, as after a retry"
        yield Note("retried-tests", f"{where}: {n:,} {problem}")
    for key, n in (("tests", len(cases)), ("failures", sum("failure" in case for case in cases))):
        stated, level = 0, [root]
        while level:  # the counts of a suite include those of the suites in it
            stated = max(stated, sum(int(text) for suite in level if (text := suite.get(key, "")).isdecimal()))
            level = [inner for suite in level for inner in suite.iterfind("{*}testsuite")]
        yield from missing_answers(where, stated, n, key)
    for suite in (root, *root.iterfind(".//{*}testsuite")):  # an outer suite may leave out the counts of those in it
        inside = suite.iterfind("{*}testcase" if suite.tag.endswith("testsuite") else ".//{*}testcase")
        n, text = sum(case.find("{*}failure") is not None for case in inside), suite.get("failures", "")
        if text.isdecimal() and int(text) < n:
            yield from other_count(where, int(text), n, "failures")
            break


def _answer(content: Content, case: Element, children: Mapping[str, Element], columns: Columns) -> Answer:
    name = case.get("name")
    if not name:
        raise ValueError(f"{content.where}: name: {shown(name)} of a test case is not valid; expected its name")
    item = "::".join(filter(None, (case.get("classname"), name)))
    properties = [(key.get("name", ""), key.get("value", "")) for key in case.iterfind(".//{*}property")]
    failures = {key.casefold(): "failed" for key, value in properties if value.casefold() in _FAILED}
    about = case.attrib | failures
    states = [about.get(key, "").casefold() for key in ("status", "result", "outcome", "state")]
    false = {key for key, value in about.items() if value.casefold() == "false"}
    wrong = "failure" in children or not _FAILED.isdisjoint(states) or not false.isdisjoint({"success", "passed"})
    reasons = [children[key].get("message") or key for key in _NOT_RUN if key in children]
    reasons += ["not executed" * ("executed" in false), *(state for state in states if state not in _PASSED)]
    failed = "" if wrong else next(filter(None, reasons), "")
    return make_answer(item, {} if failed else {"passed": not wrong}, about, columns, failed=failed)
