"""Several scores of the same answers, each a measure of its own, in one family of tests and one verdict."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from .compare import compare_pairs
from .paired_predictions import PairedPredictions
from .result import ComparisonResult
from .rule import ComparisonRule

Subjects = tuple[Mapping[str, str], Mapping[str, str]]


def with_names(pairs: Sequence[PairedPredictions], scores: Sequence[str | None]) -> list[PairedPredictions]:
    """The pairs of one candidate with the names of their scores, where there are several.

    Predictions, which are the same beside each score of a table, are compared beside the first.
    """
    if len(pairs) == 1:
        return list(pairs)
    return [
        replace(pair, score_name=str(score), compared=number > 0 and not pair.graded)
        for number, (score, pair) in enumerate(zip(scores, pairs, strict=True))
    ]


def compare_scores(
    pairs: Sequence[Sequence[PairedPredictions]],
    rule: ComparisonRule | None = None,
    measures: Sequence[str] | None = None,
    *,
    positive: str | None = None,
) -> tuple[ComparisonResult, ...]:
    """Compare each candidate by each of its scores; p-values are adjusted over all of them.

    `pairs`: for each candidate, the predictions beside the baseline's by each score. `rule`, `measures` and
    `positive`: as `sigstats.comparison.compare.compare_pairs`. Raises ValueError as
    `sigstats.comparison.compare.compare_pair`, for any of the pairs.
    """
    found = iter(compare_pairs([pair for each in pairs for pair in each], rule, measures, positive=positive))
    return tuple(_one([next(found) for _ in each]) for each in pairs)


def _one(results: Sequence[ComparisonResult]) -> ComparisonResult:
    """The rows of all scores as those of one comparison."""
    if len(results) == 1:
        return results[0]
    first = max(results, key=lambda result: result.n)
    return ComparisonResult(
        rows=tuple(row for result in results for row in result.rows),
        rule=first.rule,
        n=first.n,
        notes=tuple(dict.fromkeys(note for result in results for note in result.notes)),
        identical=all(result.identical for result in results),
        items=first.items,
        subjects=_subjects([result.subjects for result in results if result.subjects is not None]),
        joint=next((result.joint for result in results if result.joint is not None), None),
    )


def _subjects(given: Sequence[Subjects]) -> Subjects | None:
    """What was read of both files, with all that they say under a name."""
    if not given:
        return None
    baseline, candidate = (_listed(each[side] for each in given) for side in (0, 1))
    return baseline, candidate


def _listed(subjects: Iterable[Mapping[str, str]]) -> dict[str, str]:
    found: dict[str, dict[str, None]] = {}
    for subject in subjects:
        for name, value in subject.items():
            found.setdefault(name, {})[value] = None
    return {name: ", ".join(values) for name, values in found.items()}
