"""Several scores, and several candidates with one baseline: one family of tests, and which candidate to choose."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..multiplicity import adjust_pvalues
from .cells import effect_of, named
from .compare import compare_pairs
from .paired_predictions import PairedPredictions
from .result import ComparisonResult, ComparisonRow
from .rule import Verdict
from .units import ALL_ROWS

Subjects = tuple[Mapping[str, str], Mapping[str, str]]


@dataclass(frozen=True, kw_only=True)
class CandidatesResult:
    """The result of `compare_candidates`."""

    baseline: str
    candidates: tuple[str, ...]
    #: One for each candidate; their p-values are adjusted over all candidates, measures and slices.
    results: tuple[ComparisonResult, ...]
    #: For each candidate the two-sided p-value of the first measure on all rows, adjusted over the candidates by
    #: Holm's method, where the candidate is ahead; else 1.
    p_better: tuple[float, ...]

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
            rest = f"; {', '.join(better[1:])} too, and sigstats rank tells which of them differ" if better[1:] else ""
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


def compare_candidates(
    baseline: str, candidates: Sequence[str], pairs: Sequence[Sequence[PairedPredictions]], *given: Any, **options: Any
) -> CandidatesResult:
    """Compare each candidate with the baseline by each of its scores, with the parameters of `compare_scores`."""
    results = compare_scores(pairs, *given, **options)
    rows = [overall(result) for result in results]
    raw = [row.two_sided_pvalue if row.two_sided_pvalue is not None and (row.gain or 0) > 0 else 1.0 for row in rows]
    return CandidatesResult(
        baseline=baseline,
        candidates=tuple(candidates),
        results=results,
        p_better=tuple(adjust_pvalues(raw, method="holm").tolist()),
    )


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
    pairs: Sequence[Sequence[PairedPredictions]], *given: Any, **options: Any
) -> tuple[ComparisonResult, ...]:
    """Compare each candidate by each of its scores; p-values are adjusted over all of them.

    `pairs`: for each candidate, the predictions beside the baseline's by each score. All else as `compare_pairs`.
    """
    results = iter(compare_pairs([pair for by_score in pairs for pair in by_score], *given, **options))
    return tuple(_one([next(results) for _ in pair]) for pair in pairs)


def _one(results: Sequence[ComparisonResult]) -> ComparisonResult:
    if len(results) == 1:
        return results[0]
    first = max(results, key=lambda result: result.n)
    return ComparisonResult(
        rows=tuple(row for result in results for row in result.rows),
        rule=first.rule,
        n=first.n,
        notes=tuple(dict.fromkeys(note for result in results for note in result.notes)),
        identical=any(result.identical for result in results),
        items=first.items,
        subjects=_subjects([result.subjects for result in results if result.subjects is not None]),
        joint=next((result.joint for result in results if result.joint is not None), None),
    )


def _subjects(given: Sequence[Subjects]) -> Subjects | None:
    """The attributes of both files, with all values under a name."""
    if not given:
        return None
    baseline, candidate = (_listed([value[side] for value in given]) for side in (0, 1))
    return baseline, candidate


def _listed(subjects: Sequence[Mapping[str, str]]) -> dict[str, str]:
    names = dict.fromkeys(name for subject in subjects for name in subject)
    return {name: ", ".join(dict.fromkeys(subject[name] for subject in subjects if name in subject)) for name in names}
