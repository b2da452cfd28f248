"""Whether the approximate methods of a test agree with the exact one."""

from collections.abc import Sequence

from sigstats.tasks.schema import Hypothesis

from ...pages.wording import count_of, join_words
from ..evidence import Evidence, group_by
from ..section import Verdict
from . import _cases
from ._tables import subject_in_words

_APPROXIMATE = {"chi2": "chi-square", "likelihood-ratio": "the likelihood ratio"}


def approximations(evidence: Evidence, names: dict[str, str]) -> Verdict | None:
    """How often each approximate p is below the exact one, and which decide otherwise; None if none has both.

    `names`: what each test is called.
    """
    sentences, others = [], []
    for test in evidence.tests:
        tables = [_by_method(rows) for rows in group_by(evidence.of(test), evidence.table_of).values()]
        for method, name in _APPROXIMATE.items():
            pairs = [(rows["exact"], rows[method]) for rows in tables if "exact" in rows and method in rows]
            if not pairs:
                continue
            sentences.append(_beside(f"{names[test]}: the p-value of {name}", pairs))
            others += [
                _in_words(exact, found, name, _cases.p_name(evidence))
                for exact, found in pairs
                if exact.decision != found.decision
            ]
    if not sentences:
        return None
    return Verdict(sentences[0], (*sentences[1:], *others))


def _by_method(rows: Sequence[Hypothesis]) -> dict[str, Hypothesis]:
    return {row.method: row for row in reversed(rows) if row.p_value is not None}


def _beside(subject: str, pairs: Sequence[tuple[Hypothesis, Hypothesis]]) -> str:
    below = [(exact.p_value or 0, found.p_value or 0) for exact, found in pairs if _p(found) < _p(exact)]
    share = f"below the exact one in {len(below)} of {count_of(len(pairs), 'table')}"
    if len(below) == len(pairs):
        share = "below the exact one in " + (f"all {len(pairs)} tables" if len(pairs) > 1 else "the one table")
    most = max((exact / found for exact, found in below if found), default=1.0)
    factor = f", by a factor of up to {most:.2g}" if most >= 1.05 else ""
    otherwise = sum(exact.decision != found.decision for exact, found in pairs)
    return f"{subject} is {share}{factor}; it decides otherwise in {otherwise or 'none'}."


def _p(row: Hypothesis) -> float:
    return row.p_value or 0.0


def _in_words(exact: Hypothesis, found: Hypothesis, name: str, p_name: str) -> str:
    verbs = {"reject": "rejects", "keep": "does not reject"}
    said = [
        f"{who} {verbs.get(row.decision, row.decision)} ({_cases.decision_p_in_words(row, p_name)})"
        for who, row in (("the exact test", exact), (name, found))
    ]
    return f"{subject_in_words(exact)}: {join_words(said)}."
