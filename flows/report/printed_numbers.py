"""Agreement of approximate methods with the exact one, and of printed numbers with recomputed ones."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sigstats.tasks.schema import Hypothesis
from sigstats.tasks.summary.published import Reference, agrees, read_references

from ..pages.wording import count_of, join_words, p_at_most, significant
from . import verdicts
from .evidence import Evidence, at_smallest_p, group_by
from .record_sections import subject_in_words
from .section import Verdict
from .usual_columns import short, where

_APPROXIMATE = {"chi2": "chi-square", "likelihood-ratio": "the likelihood ratio"}


def approximations(evidence: Evidence, names: dict[str, str]) -> Verdict | None:
    """How often each approximate p is below the exact one, and which decide differently; None if none has both."""
    sentences, others = [], []
    for test in evidence.tests:
        tables = [
            {row.method: row for row in reversed(rows) if row.p_value is not None}
            for rows in group_by(evidence.of(test), evidence.table_of).values()
        ]
        for method, name in _APPROXIMATE.items():
            pairs = [(rows["exact"], rows[method]) for rows in tables if "exact" in rows and method in rows]
            if not pairs:
                continue
            sentences.append(_beside(f"{names[test]}: the p-value of {name}", pairs))
            others += [
                _in_words(exact, pair, name, verdicts.p_name(evidence))
                for exact, pair in pairs
                if exact.decision != pair.decision
            ]
    if not sentences:
        return None
    return Verdict(sentences[0], (*sentences[1:], *others))


def _beside(subject: str, pairs: Sequence[tuple[Hypothesis, Hypothesis]]) -> str:
    pvalues = [(exact.p_value or 0.0, pair.p_value or 0.0) for exact, pair in pairs]
    below = [(exact, pvalue) for exact, pvalue in pvalues if pvalue < exact]
    share = f"below the exact one in {len(below)} of {count_of(len(pairs), 'table')}"
    if len(below) == len(pairs):
        share = "below the exact one in " + (f"all {len(pairs)} tables" if len(pairs) > 1 else "the one table")
    most = max((exact / value for exact, value in below if value), default=1.0)
    factor = f", by a factor of up to {most:.2g}" if most >= 1.05 else ""
    otherwise = sum(exact.decision != pair.decision for exact, pair in pairs)
    return f"{subject} is {share}{factor}; it decides otherwise in {otherwise or 'none'}."


def _in_words(exact: Hypothesis, hypothesis: Hypothesis, name: str, p_name: str) -> str:
    verbs = {"reject": "rejects", "keep": "does not reject"}
    said = [
        f"{who} {verbs.get(row.decision, row.decision)} ({verdicts.decision_p_in_words(row, p_name)})"
        for who, row in (("the exact test", exact), (name, hypothesis))
    ]
    return f"{subject_in_words(exact)}: {join_words(said)}."


@dataclass(frozen=True)
class _Pair:
    row: Hypothesis
    reference: Reference
    value: float
    alpha: float

    @property
    def is_p(self) -> bool:
        return self.reference.name == "p_value"

    @property
    def in_value(self) -> bool:
        """True if the result rounds to the printed number."""
        return agrees(self.value, self.reference.printed)

    @property
    def in_order(self) -> bool:
        """True if the larger is less than ten times the smaller."""
        low, high = sorted(map(abs, (self.value, float(self.reference.printed))))
        return self.in_value or high < 10 * low

    @property
    def in_decision(self) -> bool:
        """True if both p-values reject at the level of the study, or neither does."""
        return self.in_value or (self.value <= self.alpha) == (float(self.reference.printed) <= self.alpha)

    @property
    def subject(self) -> str:
        """The case, the test and its method."""
        row = self.row
        subject = subject_in_words(row.with_(dataset=" on ".join(filter(None, (row.classifier, where(row))))))
        return f"{subject}, {row.test}" if row.test.startswith(row.method) else f"{subject}, {row.test}, {row.method}"

    def in_words(self) -> str:
        """The printed and the computed number, the extent of their agreement, and possible reasons for a difference."""
        reference, row = self.reference, self.row
        agreement = ["same order of magnitude" if self.in_order else "another order of magnitude"]
        if self.is_p:
            agreement.append("same decision" if self.in_decision else "another decision")
        if f"{reference.name} {reference.printed} is printed" in row.disagrees:
            agreement += [reference.remark] if reference.remark else []
        elif reference.tolerance is not None:
            agreement.append(f"within {significant(reference.tolerance)}, as the study allows")
        elif reference.side is None:
            agreement.append("within Monte-Carlo error")
        text = p_at_most(self.value, at_most=at_smallest_p(row)) if self.is_p else f"{self.value:.6g}"
        what = row.measure or "" if reference.name == "estimate" else short(reference.name)
        return (
            f"{self.subject}: {f'{what} {reference.printed}'.strip()} is printed, {text} recomputed "
            f"({'; '.join(agreement)})."
        )


def printed_numbers(evidence: Evidence) -> Verdict | None:
    """How many printed numbers agree in value, in order of magnitude and in decision; None if there are none."""
    pairs = list(_pairs(evidence))
    if not pairs:
        return None
    others = [pair for pair in pairs if not pair.in_value]
    if not others:
        all_of_them = f"All {len(pairs)} printed numbers agree" if len(pairs) > 1 else "The printed number agrees"
        return Verdict(f"{all_of_them} in value.")
    ps = [pair for pair in pairs if pair.is_p]
    undecided = [pair for pair in ps if not pair.in_decision]
    counts = (
        f"{len(pairs) - len(others)} of {len(pairs)} printed numbers agree in value, "
        f"{sum(pair.in_order for pair in pairs)} in order of magnitude"
    )
    if ps:
        counts += f"; {len(ps) - len(undecided)} of {len(ps)} printed p-values agree in decision"
    others.sort(key=lambda pair: (pair not in undecided, pair.in_order))
    return Verdict(f"{counts}.", tuple(pair.in_words() for pair in others), _rule(pairs, evidence.alpha))


def _rule(pairs: Sequence[_Pair], alpha: float) -> str:
    """The criterion of agreement, and the numbers that do not agree in order of magnitude or in decision."""
    rule = (
        "Numbers agree in value if the recomputed one rounds to the printed one, and in order of magnitude if the "
        "larger is less than ten times the smaller."
    )
    ps = [pair for pair in pairs if pair.is_p]
    undecided = [pair for pair in ps if not pair.in_decision]
    far = [pair for pair in pairs if not pair.in_order]
    if ps:
        rule += (
            f" p-values, before adjustment, agree in decision if both are at most {significant(alpha)} or neither "
            "is, and where they agree in value."
        )
    if far:
        rule += f" Not in order of magnitude: {join_words([pair.subject for pair in far])}."
    if undecided:
        rule += f" Not in decision: {join_words([pair.subject for pair in undecided])}."
    return rule


def _pairs(evidence: Evidence) -> Iterator[_Pair]:
    rows = [row for row in evidence.rows if row.printed]
    references = group_by(read_references(evidence.results.store) if rows else [], lambda reference: reference.cell)
    for row in rows:
        for reference in references.get(row.cell, []):
            value: float | None = getattr(row, reference.name)
            if value is not None:
                yield _Pair(row, reference, value, evidence.alpha)
