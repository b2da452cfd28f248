"""Several scores, and several candidates with one baseline: one family of tests, and the recommended candidate."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from ..multiplicity import adjust_pvalues
from .cells import effect_of, named
from .compare import compare_pairs
from .paired_predictions import PairedPredictions
from .result import ComparisonResult, ComparisonRow
from .rule import ComparisonRule, Verdict
from .units import ALL_ROWS


@dataclass(frozen=True, kw_only=True)
class CandidatesResult:
    """The comparisons of several candidates with one baseline, by `compare_scores`, and the recommended candidate."""

    baseline: str
    candidates: tuple[str, ...]
    #: One for each candidate; their p-values are adjusted over all candidates, measures and slices.
    results: tuple[ComparisonResult, ...]

    @cached_property
    def p_better(self) -> tuple[float, ...]:
        """The p-values of "the candidate is not better" by the first measure on all rows, adjusted by Holm's method.

        Two-sided if the candidate is ahead, otherwise 1.
        """
        rows = map(overall, self.results)
        raw = [1.0 if row.two_sided_pvalue is None or (row.gain or 0) <= 0 else row.two_sided_pvalue for row in rows]
        return tuple(adjust_pvalues(raw, method="holm").tolist())

    @property
    def verdict(self) -> Verdict:
        """The worst verdict of any candidate."""
        return min((result.verdict for result in self.results), key=("fail", "inconclusive", "pass").index)

    @property
    def better(self) -> tuple[str, ...]:
        """The candidates that pass and are shown to be better than the baseline, the best first."""
        indices = [i for i in self._ranked("pass") if self.p_better[i] <= self.results[i].rule.alpha]
        return tuple(self.candidates[i] for i in indices)

    @property
    def take(self) -> str | None:
        """The best candidate of those that are better, else of those that pass and are not behind; or None."""
        if self.better:
            return self.better[0]
        passing = self._ranked("pass")
        return self.candidates[passing[0]] if passing and _difference(self.results[passing[0]]) >= 0 else None

    @property
    def recommendation(self) -> str:
        """The candidate to take, or to test on more rows, in an imperative sentence."""
        better, taken = self.better, self.take
        if taken is not None:
            row = overall(self.results[self.candidates.index(taken)])
            change = f"{named(row)} {effect_of(row)}"
            if not better:
                return f"Keep {self.baseline} or take {taken}, which is not worse, and not shown to be better: {change}"
            rest = f"; {', '.join(better[1:])} pass too, and sigstats rank compares them" if better[1:] else ""
            return f"Take {taken}: it is worse nowhere and {change}{rest}"
        if self._ranked("pass"):
            return f"Keep {self.baseline}: the candidates that are not worse do not score higher"
        answers = {self.candidates[i]: self.results[i].answer for i in self._ranked("inconclusive")}
        for name, answer in answers.items():
            if answer.better and answer.row is not None and not answer.row.whole:
                return f"Test {name} on more rows before you take it: {answer.finding}"
        for name, answer in answers.items():
            return f"Keep {self.baseline} for now; {name} is undecided: {answer.finding}"
        return f"Keep {self.baseline}: each candidate is worse"

    @property
    def deciding(self) -> tuple[ComparisonRow, ...]:
        """The row that decides the verdict of each candidate."""
        return tuple(result.answer.row or overall(result) for result in self.results)

    def _ranked(self, verdict: Verdict) -> list[int]:
        indices = [i for i, result in enumerate(self.results) if result.verdict == verdict]
        return sorted(indices, key=lambda i: -_difference(self.results[i]))


def overall(result: ComparisonResult) -> ComparisonRow:
    """The row of the first measure on all rows."""
    return next(row for row in result.rows if row.slice == ALL_ROWS)


def _difference(result: ComparisonResult) -> float:
    gain = overall(result).gain
    return -1.0 if gain is None else gain


def with_names(pairs: Sequence[PairedPredictions], scores: Sequence[str | None]) -> list[PairedPredictions]:
    """The pairs of one candidate with the names of several scores; predictions are compared only with the first."""
    if len(pairs) == 1:
        return list(pairs)
    return [
        replace(pair, scored=pair.scored and replace(pair.scored, name=str(score)), compared=again and not pair.graded)
        for again, score, pair in zip([False] + [True] * (len(pairs) - 1), scores, pairs, strict=True)
    ]


def compare_scores(
    pairs: Sequence[Sequence[PairedPredictions]],
    rule: ComparisonRule,
    measures: Sequence[str] | None,
    positive: str | None,
) -> tuple[ComparisonResult, ...]:
    """Compare each candidate by each of its scores; p-values are adjusted over all of them.

    `pairs`: for each candidate, its predictions paired with the baseline's by each score. The rest: as `compare_pairs`.
    """
    every = [pair for by_score in pairs for pair in by_score]
    results = iter(compare_pairs(every, rule, measures, positive=positive))
    return tuple(_merged([next(results) for _ in by_score]) for by_score in pairs)


def _merged(results: Sequence[ComparisonResult]) -> ComparisonResult:
    if len(results) == 1:
        return results[0]
    first = max(results, key=lambda result: result.n)
    subjects = [result.subjects for result in results if result.subjects is not None]
    return ComparisonResult(
        rows=tuple(row for result in results for row in result.rows),
        rule=first.rule,
        n=first.n,
        notes=tuple(dict.fromkeys(note for result in results for note in result.notes)),
        identical=any(result.identical for result in results),
        items=first.items,
        subjects=(_listed(subjects, 0), _listed(subjects, 1)) if subjects else None,
        joint=next((result.joint for result in results if result.joint is not None), None),
    )


def _listed(subjects: Sequence[tuple[Mapping[str, str], Mapping[str, str]]], side: int) -> dict[str, str]:
    """The attributes of one file; several values of an attribute are listed together."""
    values: dict[str, dict[str, None]] = {}
    for subject in subjects:
        for name, value in subject[side].items():
            values.setdefault(name, {})[value] = None
    return {name: ", ".join(of) for name, of in values.items()}
