"""Which of several known algorithms does a new one resemble? (Hryniewicz, section 4).

For each known algorithm the hypothesis is tested that the new one behaves as it does; its possibilistic indices are
those against the most plausible of the others.
"""

from collections import defaultdict
from collections.abc import Iterator

from sigstats.possibilistic_indices import weigh_hypotheses

from ..results import Results
from ..schema import Hypothesis
from .hypotheses import LIKENESS, table_hypothesis


def rows(results: Results) -> Iterator[Hypothesis]:
    """One hypothesis for each known algorithm, by each method."""
    groups: dict[tuple[str, str], list[Hypothesis]] = defaultdict(list)
    for cell in results.plan.cells:
        if cell.subject.get("test") == LIKENESS:
            hypothesis = "the new algorithm falls into the classes as a does"
            row = table_hypothesis(results, cell).with_(null_hypothesis=hypothesis)
            groups[cell.subject["dataset"], cell.subject["method"]].append(row)
    for group in groups.values():
        yield from _rank(group)


def _rank(rows: list[Hypothesis]) -> Iterator[Hypothesis]:
    pvalues = {row.a: row.p_value for row in rows if row.a is not None and row.p_value is not None}
    if len(pvalues) < len(rows):  # a rival is missing, so no hypothesis can be ranked
        yield from (row.with_(p_value=None, decision="missing") for row in rows)
        return
    ranked = {hypothesis.name: hypothesis for hypothesis in weigh_hypotheses(pvalues)}
    for row in rows:
        index = ranked[str(row.a)]
        yield row.with_(b=index.rival, pd=index.pd, psd=index.psd, nsd=index.nsd)
