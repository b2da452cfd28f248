"""Agreement of printed numbers with recomputed ones."""

from collections.abc import Iterator
from dataclasses import dataclass

from sigstats.tasks.schema import Hypothesis
from sigstats.tasks.summary import Reference, agrees, read_references

from ..pages.wording import join_words, p_at_most, significant
from .evidence import Evidence, Verdict
from .rows import at_smallest_p, group_by
from .sections import subject_in_words
from .usual_columns import short, where


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
    """A verdict on the printed numbers that agree in value, order of magnitude and decision; None without any."""
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
    rule = (
        "Numbers agree in value if the recomputed one rounds to the printed one, and in order of magnitude if the "
        "larger is less than ten times the smaller."
    )
    if ps:
        rule += (
            f" p-values, before adjustment, agree in decision if both or neither are at most "
            f"{significant(evidence.alpha)}, or if they agree in value."
        )
    far = [pair for pair in pairs if not pair.in_order]
    for kind, differing in (("order of magnitude", far), ("decision", undecided)):
        if differing:
            rule += f" Not in {kind}: {join_words([pair.subject for pair in differing])}."
    return Verdict(f"{counts}.", tuple(pair.in_words() for pair in others), rule)


def _pairs(evidence: Evidence) -> Iterator[_Pair]:
    rows = [row for row in evidence.rows if row.printed]
    references = group_by(read_references(evidence.results.store) if rows else [], lambda reference: reference.cell)
    for row in rows:
        for reference in references.get(row.cell, []):
            value: float | None = getattr(row, reference.name)
            if value is not None:
                yield _Pair(row, reference, value, evidence.alpha)
