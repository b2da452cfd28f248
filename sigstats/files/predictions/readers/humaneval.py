"""Results in the form of HumanEval: one line per sample, with its task and whether it passed.

Samples of one task are answers to one item.
"""

import re

from sigstats._common.validation import shown

from ...inputs.content import Content, parse_json
from .._columns import Columns
from .._log import EvaluationLog, graded_by, make_answer, mapping

ORDER = 44
NAME = "HumanEval's results"

BEGINS = re.compile(rb'\s*+\{(?=[^\n]*"task_id")(?=[^\n]*"passed"\s*:\s*(true|false))(?![^\n]*"id")')


def read(content: Content, columns: Columns) -> EvaluationLog:
    """Read whether each sample passed."""
    answers = []
    for number, line in enumerate(content.whole().splitlines(), start=1):
        if not line.strip():
            continue
        row = mapping(parse_json(line, content.budget))
        task, passed = row.get("task_id"), row.get("passed")
        if not isinstance(task, (str, int)) or not isinstance(passed, bool):
            odd = "task_id" if not isinstance(task, (str, int)) else "passed"
            problem = f"line {number}: {odd} {shown(row.get(odd))} is not valid"
            raise ValueError(f"{content.where}: {problem}; expected the id of a task, and passed true or false")
        answers.append(make_answer(str(task), {"passed": passed}, row, columns))
    return EvaluationLog(
        where=content.where, harness="HumanEval", answers=answers, repeats=True, kind="score", **graded_by("passed")
    )
