"""JUnit's XML, as pytest and most runners of tests write it: a test case is an item, and right if it passed.

A case that was skipped, did not run, or ended in an error rather than a failed assertion, has no score. Runners state
this by a child, or by attributes (of failures also properties) such as ``status``, ``result`` or NUnit's ``executed``.
"""

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any
from xml.parsers import expat

from sigstats._common.messages import Note, shown

from ...inputs.content import Content
from .._columns import Columns
from .._log import Answer, EvaluationLog, graded_by, make_answer, missing_answers

ORDER = 47
NAME = "JUnit's XML"

#: The states of a case that passed, and of one that failed; in any other state it did not run.
_PASSED, _FAILED = {"", "run", "completed", "passed", "pass", "success", "ok"}, {"failed", "fail", "failure"}
#: The children of a case that did not run to its end.
_NOT_RUN = ("skipped", "ignored", "todo", "disabled", "error")
_ENDED = {"failure", *_NOT_RUN}
#: Other children that report failures, such as ``flakyFailure`` and ``rerun``.
_ODD = re.compile("fail|error|flaky|rerun|retr|broke|crash|abort|time-?out")
BEGINS = re.compile(rb"\s*+(<\?xml[^>]*+>\s*+)?+(<!--.*?-->\s*+)*+<testsuites?[\s>]", re.DOTALL)


def read(content: Content, columns: Columns) -> EvaluationLog:
    """Read which test cases passed."""
    cases: list[tuple[dict[str, str], dict[str, str]]] = []
    inside: list[str] = []
    ended: list[Note] = []
    stated: dict[str, Counter[int]] = {"tests": Counter(), "failures": Counter()}

    def start(name: str, attributes: dict[str, str]) -> None:
        if name == "testcase":
            cases.append((attributes, {}))
        elif inside and inside[-1] == "testcase":
            cases[-1][1][name.rpartition(":")[2].casefold()] = attributes.get("message") or name
        elif name == "property" and "testcase" in inside and attributes.get("value", "").casefold() in _FAILED:
            cases[-1][0][attributes.get("name", "").casefold()] = "failed"
        elif name in ("testsuite", "testsuites"):
            for key in stated.keys() & attributes.keys():  # those of a suite include the nested ones
                stated[key][len(inside)] += int(attributes[key]) if attributes[key].isdecimal() else 0
        elif name == "error":
            problem = f"a suite ended in an error, {shown(attributes.get('message', ''))}; absent tests are not counted"
            ended.append(Note("absent-tests", f"{content.where}: {problem}"))
        inside.append(name)

    def end(_name: str) -> None:
        inside.pop()

    def declared(*_: Any) -> None:
        raise ValueError(f"{content.where}: declares a type of document; expected JUnit's XML without one")

    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.StartDoctypeDeclHandler = declared
    try:
        parser.Parse(content.whole(), True)
    except expat.ExpatError as error:
        raise ValueError(f"{content.where}: cannot be read as XML ({error})") from None
    odd = Counter(name for case in cases if not _ENDED.intersection(case[1]) for name in case[1] if _ODD.search(name))
    problem = f"of {len(cases):,} tests contain <{{}}>; they count as passed, as after a retry"
    ended += [Note("retried-tests", f"{content.where}: {n:,} {problem.format(name)}") for name, n in odd.items()]
    for key, n in (("tests", len(cases)), ("failures", sum("failure" in said for _, said in cases))):
        ended += missing_answers(content.where, max(stated[key].values(), default=0), n, key)
    return EvaluationLog(
        where=content.where,
        harness="JUnit",
        answers=[_answer(content, *case, columns) for case in cases],
        kind="score",
        notes=tuple(ended),
        **graded_by("passed"),
    )


def _answer(content: Content, case: Mapping[str, str], children: Mapping[str, str], columns: Columns) -> Answer:
    name = case.get("name")
    if not name:
        raise ValueError(f"{content.where}: name: {shown(name)} of a test case is not valid; expected its name")
    item = "::".join(filter(None, (case.get("classname"), name)))
    states = [case.get(key, "").casefold() for key in ("status", "result", "outcome", "state")]
    false = {key for key, value in case.items() if value.casefold() == "false"}
    wrong = "failure" in children or not _FAILED.isdisjoint(states) or not false.isdisjoint({"success", "passed"})
    unlike = ["not executed" * ("executed" in false), *(state for state in states if state not in _PASSED)]
    reasons = [children.get(child, "") for child in _NOT_RUN] + unlike
    failed = "" if wrong else next(filter(None, reasons), "")
    return make_answer(item, {} if failed else {"passed": not wrong}, case, columns, failed=failed)
