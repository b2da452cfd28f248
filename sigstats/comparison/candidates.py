"""Several candidates beside one baseline: which fail, which pass, which are better, and which to take."""

from collections.abc import Sequence
from dataclasses import dataclass

from ..multiplicity import adjust_pvalues
from .cells import difference_in_words
from .paired_predictions import ALL_ROWS, PairedPredictions
from .result import ComparisonResult, ComparisonRow
from .rule import ComparisonRule, Verdict
from .several_scores import compare_scores

_ORDER: tuple[Verdict, ...] = ("fail", "inconclusive", "pass")


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
        return min((each.verdict for each in self.results), key=_ORDER.index)

    @property
    def better(self) -> tuple[str, ...]:
        """The candidates that pass and are shown to be better than the baseline, the best first."""
        found = [i for i in self._ranked("pass") if self.p_better[i] <= self.results[i].rule.alpha]
        return tuple(self.candidates[i] for i in found)

    @property
    def take(self) -> str | None:
        """The candidate to take, or None: the best of those that are better, else the best of those that pass.

        None too where the best that passes is behind the baseline.
        """
        if self.better:
            return self.better[0]
        passing = self._ranked("pass")
        return self.candidates[passing[0]] if passing and _difference(self.results[passing[0]]) >= 0 else None

    @property
    def recommendation(self) -> str:
        """Which to take, in a sentence."""
        better, taken = self.better, self.take
        if taken is None:
            if self._ranked("pass"):
                return f"keep {self.baseline}: what passes is not ahead of it"
            return f"keep {self.baseline}: no candidate passes"
        row = overall(self.results[self.candidates.index(taken)])
        ahead = f"{difference_in_words(row)} of {row.name}"
        if not better:
            return f"keep {self.baseline} or take {taken}, which passes ({ahead}) but is not shown to be better"
        rest = f"; {', '.join(better[1:])} too, and sigstats rank says which of them differ" if better[1:] else ""
        return f"take {taken}: it passes and is better than {self.baseline} ({ahead}){rest}"

    def _ranked(self, verdict: Verdict) -> list[int]:
        found = [i for i, each in enumerate(self.results) if each.verdict == verdict]
        return sorted(found, key=lambda i: -_difference(self.results[i]))


def compare_candidates(
    baseline: str,
    candidates: Sequence[str],
    pairs: Sequence[Sequence[PairedPredictions]],
    rule: ComparisonRule | None = None,
    measures: Sequence[str] | None = None,
    *,
    positive: str | None = None,
) -> CandidatesResult:
    """Compare each candidate with the baseline, by each of its scores, in one family of tests.

    Raises ValueError as `sigstats.comparison.compare.compare_pair`, for any of the pairs.
    """
    results = compare_scores(pairs, rule, measures, positive=positive)
    rows = [overall(each) for each in results]
    raw = [row.p_differs if row.p_differs is not None and (row.gain or 0) > 0 else 1.0 for row in rows]
    return CandidatesResult(
        baseline=baseline,
        candidates=tuple(candidates),
        results=results,
        p_better=tuple(adjust_pvalues(raw, method="holm").tolist()),
    )


def overall(found: ComparisonResult) -> ComparisonRow:
    """The row of the first measure on all rows."""
    return next(row for row in found.rows if row.slice == ALL_ROWS)


def _difference(found: ComparisonResult) -> float:
    gain = overall(found).gain
    return -1.0 if gain is None else gain
