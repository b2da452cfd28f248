"""Findings about a study as a whole: what is not finished or failed, and whether printed numbers are reproduced."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sigstats._common.messages import join_words
from sigstats._common.numerals import count_of, p_at_most, significant
from sigstats.tasks.fan_out import in_words
from sigstats.tasks.plan import Cell
from sigstats.tasks.schema import Hypothesis
from sigstats.tasks.storage.seal import Damaged
from sigstats.tasks.storage.store import Store
from sigstats.tasks.summary import Reference, agrees, read_references

from . import sections
from .evidence import Evidence, Verdict
from .rows import at_smallest_p, distinct, group_by
from .usual_columns import short, where

#: The most hypotheses without a result that are named.
_NAMED = 3


@dataclass(frozen=True)
class Problem:
    """A cell that is not complete."""

    #: The cell, and what happened to it.
    sentence: str
    #: Traceback; empty if it did not fail.
    traceback: str


def read_failures(store: Store) -> list[dict[str, str]]:
    """Return the failed blocks of all receipts; unreadable receipts are skipped, since no result depends on them."""
    failures: list[dict[str, str]] = []
    for name in store.files.names("receipts"):
        try:
            content = store.read_json(f"receipts/{name}")
        except (Damaged, FileNotFoundError):
            continue
        cell = str(content.get("cell", name.removesuffix(".json")))
        failures += [
            {**{key: str(value) for key, value in failure.items()}, "cell": cell}
            for failure in content.get("failures", [])
        ]
    return failures


def problems(evidence: Evidence, failures: Sequence[Mapping[str, str]]) -> list[Problem]:
    """Return the incomplete cells that hypotheses need: first those that failed, then unfinished ones."""
    by_cell: dict[str, Mapping[str, str]] = {}
    for failure in failures:
        by_cell.setdefault(failure.get("cell") or failure.get("block", "").partition("/")[0], failure)
    failed, unfinished = [], []
    for cell in evidence.incomplete:
        cause = by_cell.get(cell.name)
        if cause is None:
            unfinished.append(Problem(f"{cell_in_words(cell)}: not finished.", ""))
        else:
            what = f"{cause.get('error', 'error')}: {cause.get('message', '')}".rstrip(": ")
            failed.append(Problem(f"{cell_in_words(cell)}: failed with {what}", cause.get("traceback", "")))
    return failed + unfinished


def cell_in_words(cell: Cell) -> str:
    """Return the subject of a cell in words: ``1-nn on wine, retrains (features)``."""
    rest = dict(cell.subject)
    subject = " on ".join(rest.pop(key) for key in ("classifier", "dataset") if key in rest)
    what = in_words(cell)
    others = ", ".join(rest.values())
    return ", ".join(part for part in (subject, what + (f" ({others})" if others else "")) if part)


def shortfall(evidence: Evidence) -> str:
    """Describe the hypotheses without a result; empty if all have one."""
    missing = [row for row in evidence.rows if row.decision == "missing"]
    if not missing:
        return ""
    names = {section.test: section.name for section in sections.of_study(evidence)}
    shown = distinct(f"{names[row.test]} of {_subject(row)}" for row in missing)
    more = f" and {len(shown) - _NAMED} more" if len(shown) > _NAMED else ""
    values = sum(row.decision == "none" for row in evidence.rows)
    untested = f" ({values} of the others have no test)" if values else ""
    return (
        f"{len(missing)} of {count_of(len(evidence.rows), 'result')} {'is' if len(missing) == 1 else 'are'} "
        f"missing{untested}: {'; '.join(shown[:_NAMED])}{more}. Adjusted p-values are over the hypotheses with "
        "results, and may grow when the others are computed."
    )


def how_to_finish(evidence: Evidence, failures: Sequence[Mapping[str, str]] = ()) -> str:
    """Return advice to complete missing computations; empty if none is missing.

    `failures`: the result of `read_failures`, if these must be corrected first.
    """
    lacking = evidence.incomplete
    if not lacking:
        return ""
    failed = any(problem.traceback for problem in problems(evidence, failures))
    return (
        f"{'Fix what failed, then run' if failed else 'Run'} this study again: sigstats run STUDY --output OUTPUT, "
        f"both as before, computes the {len(lacking):,} of {len(evidence.results.plan.cells):,} computations that "
        f"{'is' if len(lacking) == 1 else 'are'} missing."
    )


def _subject(row: Hypothesis) -> str:
    who = row.classifier or " against ".join(name for name in (row.a, row.b) if name)
    return " on ".join(part for part in (who, where(row)) if part) or row.null_hypothesis


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
        subject = sections.subject_in_words(row.with_(dataset=" on ".join(filter(None, (row.classifier, where(row))))))
        return f"{subject}, {row.test}" if row.test.startswith(row.method) else f"{subject}, {row.test}, {row.method}"

    def in_words(self) -> str:
        """Return the printed and computed numbers, how far they agree, and possible reasons for a difference."""
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
    """Return a verdict on how many printed numbers agree in value, magnitude and decision, or None without any."""
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
