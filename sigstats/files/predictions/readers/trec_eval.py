"""The output of ``trec_eval -q``: a line for each measure of each query. Its lines on all queries are left out."""

import re
from typing import Any

from sigstats._common.validation import refuse

from ...inputs.content import Content
from ...tables.spelling import is_number
from .._columns import Columns
from .._log import EvaluationLog, add_result, graded_by, make_answer, missing_answers

ORDER = 49
NAME = "trec_eval -q"

#: Names are padded to 22 characters, which no header of a table is.
BEGINS = re.compile(rb"[\w.@-]++ ++\t[^\t\n]++\t[^\t\n]++\r?\n")
#: Measures from 0 to 1, with their cut-offs.
_SHARE = re.compile(
    r"(set_)?(map|P|recall|F|ndcg|relative_P|Rprec|Rprec_mult|bpref|recip_rank|success|gm_map|infAP|11pt_avg|Rndcg|binG|G"
    r"|map_cut|ndcg_cut|ndcg_rel|iprec_at_recall)(_[\d.,]+)?"
)


def read(content: Content, columns: Columns) -> EvaluationLog:
    """Read the measures of each query."""
    values, stated = dict[str, list[dict[str, float]]](), dict[str, float]()
    for number, line in enumerate(content.whole().decode().splitlines(), start=1):
        fields = [field.strip() for field in line.split("\t")]
        if fields == [""]:
            continue
        if len(fields) != 3:
            raise ValueError(f"{content.where}, line {number}: {len(fields)} fields; expected measure, query and value")
        measure, query, value = fields
        if query == "all":
            stated |= {measure: int(value) if value.isdecimal() else float(value)} if is_number(value) else {}
            continue
        if not is_number(value):
            raise refuse(f"{content.where}, line {number}", value, "a number")
        add_result(values, query, {measure: float(value)})
    if not values:
        raise ValueError(f"{content.where}: has no single queries, only means over all; expected trec_eval -q")
    answers = [make_answer(query, result, {}, columns) for query, results in values.items() for result in results]
    measured = {name for answer in answers for name in answer.scores if _SHARE.fullmatch(name)}
    more: dict[str, Any] = {"notes": missing_answers(content.where, stated.get("num_q"), len(values), "queries")}
    more |= graded_by(*measured) | {"stated": {(name, ""): stated.get(name) for name in measured - {"gm_map"}}}
    return EvaluationLog(where=content.where, harness="trec_eval", answers=answers, **more)
