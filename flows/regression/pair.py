"""Join the two files of predictions that a regression study compares, or compare the candidate with a bar.

A bar replaces the values of the baseline in rows, trends and pages.
"""

import datetime as dt
import hashlib
import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sigstats._common.messages import rephrased
from sigstats.comparison.check.bar import check_predictions, evidence_checked
from sigstats.comparison.check.result import CheckedRow, CheckResult, rows_that_decide
from sigstats.comparison.family import default_measures, measures_to_compare, with_cost
from sigstats.comparison.margins import StatedShare
from sigstats.comparison.measure_names import check_used
from sigstats.comparison.paired_predictions import as_score_range
from sigstats.comparison.result import ComparisonResult
from sigstats.comparison.rows import ComparisonRow
from sigstats.comparison.rule import ComparisonRule
from sigstats.files.predictions import Columns, PairedPredictions, Predictions, join_scores, read_by_scores
from sigstats.files.tables.spelling import without_points
from sigstats.measures.own import code_of, is_path
from sigstats.tasks.own_code import allow_measures, allowed_measure
from sigstats.tasks.record import digest
from sigstats.tasks.storage.history import Record

from ..errors import BadInput
from .order import Order, digest_of_file, name_of
from .study import RegressionStudy, in_keys

#: An id that ends in a whole number, without its leading zeros; not the digits after a decimal point.
_LAST_NUMBER = re.compile(r"((?:.*[^\d.,])?)0*(\d+)", re.ASCII | re.DOTALL)
#: The keys of a study that affect neither what is compared nor the rules.
NO_RULES = ("kind", "name", "baseline", "candidate", "newest", "fail_on")
#: Tables of a study, keys in them that older versions did not have, and the value that means that a key is not used.
#: Such keys are left out of identities: an evaluation that was stored before there was a key is that of a study
#: without it.
_UNUSED: tuple[tuple[str, str, Any], ...] = (
    ("", "duplicates score_range weights at_least at_most", None),
    ("", "unscored duplicates", "refuse"),
    ("", "allow_different_tasks", False),
    ("columns", "filter model candidate_model epoch rows", None),
    ("columns", "lower_is_better higher_is_better missing classes", []),
    ("rule", "margins", {}),
    ("rule", "simultaneous gaps", False),
    ("rule", "relative_effect relative_margin", 0.05),
    ("rule", "unseen_group", "auto"),
    ("looks", "rows", "same"),
    ("looks", "reset run_length", None),
)


@dataclass(frozen=True)
class Pair:
    """Two files of predictions side by side."""

    #: Paths or URLs.
    baseline: str
    candidate: str
    #: The digests of the contents of both files.
    digests: tuple[str, str]
    #: One for each score that the study names; a single one if it names none.
    by_score: tuple[PairedPredictions, ...]
    #: For counting looks at the same rows: the digest of all rows, the ascending digests of ids, and those of labels.
    held_out: str
    rows: NDArray[np.int64]
    labels: NDArray[np.int64]
    #: The time when the candidate was made, from its name or a column; None if unknown.
    dated: dt.datetime | None


def order_of(study: RegressionStudy, base: Path) -> Order:
    """Return the order of the files that match the study's patterns, and the columns to read from them."""
    names = study.columns
    columns = Columns().but(
        **names.model_dump(
            exclude={"score", "candidate_model", "lower_is_better", "higher_is_better", "missing", "classes"}
        ),
        missing=tuple(names.missing),
        classes=tuple(names.classes),
        score=names.scores[0] if len(names.scores) == 1 else None,
        lower=frozenset(names.lower_is_better),
        higher=frozenset(names.higher_is_better),
        group=study.group,
        weights=study.weights,
        slices=tuple(study.slices),
        unscored=study.unscored,
        duplicates=study.duplicates,
        named=frozenset(names.model_fields_set & {"id", "label", "prediction"}),
    )
    of_candidate = columns if names.candidate_model is None else columns.but(model=names.candidate_model)
    return Order(study, base, columns, of_candidate)


def read_pair(order: Order, candidate: str) -> Pair:
    """Return a candidate and its baseline, joined by id."""
    study, columns, of_candidate = order.study, order.columns, order.of_candidate
    baseline = candidate if study.bar is not None else order.baseline(candidate)
    digests = tuple(digest_of_file(path) for path in (baseline, candidate))
    try:
        files = (baseline, columns), (candidate, of_candidate)
        by_score_a, by_score_b = read_by_scores(files, study.columns.scores)
        how: Any = {"unmatched": study.unmatched, "allow_different_tasks": study.allow_different_tasks}
        pairs = join_scores(by_score_a, by_score_b, columns, with_ids=True, **how)
        limits = as_score_range(study.score_range)
        identical = digests[0] == digests[1] and columns == of_candidate and study.bar is None
        by_score = tuple(replace(pair, identical=identical, score_range=limits) for pair in pairs)
    except OSError as error:
        raise BadInput(f"{error.filename}: cannot be read ({error.strerror or error})") from None
    except ValueError as error:
        problem = in_keys(str(error))
        named = "" if name_of(candidate) in problem else f" (candidate: {candidate})"
        raise BadInput(f"{study.source}: {problem}{named}") from None
    dated = order.date(candidate)
    predictions = next(iter(by_score_a.values())).decoded()
    rows, places = np.unique(digests_of_ids(predictions.ids), return_index=True)
    labels, held_out = digests_of_ids(predictions.outcomes.label)[places], _digest_of_rows(predictions)
    if study.bar is not None:
        baseline = f"at {'least' if study.at_most is None else 'most'} {study.bar:g}"
        digests = digest("bar", value=baseline), digests[1]
        if isinstance(study.bar, StatedShare):  # perhaps of the range of a score
            baseline = baseline.replace(f"{study.bar:g}", f"{100 * study.bar:.12g}%")
    if codes := {name: code_of(name) for name in study.measures or () if is_path(name)}:  # changed code restarts it
        digests = digest("measured", value=digests[0], codes=codes), digests[1]
    return Pair(baseline, candidate, (digests[0], digests[1]), by_score, held_out, rows, labels, dated)


def with_own_measures(study: RegressionStudy, allow: Sequence[str]) -> RegressionStudy:
    """Return the study with its own measures imported from their paths; BadInput unless packages are allowed."""
    names = study.measures or ()
    with rephrased(f"{study.source}: ", BadInput):
        codes = allow_measures(names, allow)
    return study.model_copy(update={"measures": [allowed_measure(name) for name in names]}) if codes else study


def as_meant(study: RegressionStudy, pair: Pair) -> RegressionStudy:
    """Set measures to None, which means the default, if none are stated and the scores' default is not the accuracy."""
    with rephrased(lambda text: f"{study.source}: {in_keys(text)}", BadInput):
        if "measures" not in study.model_fields_set and any(
            default_measures(paired) != with_cost(paired, ("accuracy",)) for paired in pair.by_score
        ):
            study = study.model_copy(update={"measures": None})
        check_used(measures_of(study, pair), score_range=study.score_range)
    return study


def measures_of(study: RegressionStudy, pair: Pair) -> dict[str, None]:
    """Return the measures that are compared, each once."""
    if study.bar is not None:
        return dict.fromkeys(evidence_checked(pair.by_score[0], study.measures, study.positive))
    return dict.fromkeys(name for paired in pair.by_score for name in measures_to_compare(paired, study.measures))


def check_bar(study: RegressionStudy, paired: PairedPredictions, bar: float, rule: ComparisonRule) -> ComparisonResult:
    """Compare with the bar by the tests of `sigstats check`; raise ValueError if no value could miss the bar."""
    at_most = study.at_least is None
    result = check_predictions(paired, bar, rule, study.measures, positive=study.positive, at_most=at_most)
    rows = tuple(_as_comparison(row, result) for row in result.rows)
    return ComparisonResult(rows=rows, rule=rule, n=result.n, notes=result.notes)


def _as_comparison(row: CheckedRow, result: CheckResult) -> ComparisonRow:
    shared = {name: value for name, value in vars(row).items() if name not in ("value", "counted", "other_interval")}
    ends = {"difference": row.value, "low": row.low, "high": row.high}
    return ComparisonRow(
        **shared | {name: None if end is None else end - result.bar for name, end in ends.items()},
        baseline=result.bar,
        candidate=row.value,
        candidate_interval=row.confidence_interval,
        deciding=rows_that_decide(row, result) if row.verdict == "inconclusive" else None,
        lower_is_better=result.at_most,
        against_bar=True,
    )


def identity_of(study: RegressionStudy, baseline: str, candidate: str) -> str:
    """Return the digest of the rules and of the digests of two contents; paths and times of files do not matter."""
    rules = study.model_dump(mode="json", exclude={*NO_RULES})
    for name, keys, unused in _UNUSED:
        table = rules[name] if name else rules
        for key in keys.split():
            if key in table and table[key] == unused:
                del table[key]
    may_be_share = study.bar is not None and abs(study.bar) <= 1 < max(study.score_range or [0.0])
    if may_be_share and not isinstance(study.bar, StatedShare):
        rules["bar"] = "mark"  # 0.9 ms is not 90% of a range, which is stored as the same number
    return digest("evaluation", rules=rules, baseline=baseline, candidate=candidate)


def made_by(study: RegressionStudy, record: Record) -> bool:
    """Return True if an evaluation was made by the rules of a study, by the identity of the evaluation."""
    evaluation = record.evaluation
    return evaluation.evaluation == identity_of(study, evaluation.baseline_digest, evaluation.candidate_digest)


def digests_of_ids(ids: Any) -> NDArray[np.int64]:
    """Return a 64-bit number for each id; ``1.0`` counts as ``1`` if all ids are written so."""
    texts = without_points(ids).to_pylist()
    joined = b"".join(hashlib.blake2b(text.encode(), digest_size=8).digest() for text in texts)
    return np.frombuffer(joined, dtype=np.int64)


def repadded(ids: Any, seen: NDArray[np.int64]) -> tuple[str, str] | None:
    """Return a new id and its spelling among the digests in `seen` with other leading zeros, as ``5`` and ``0005``.

    At most 1,000 of the new ids, spread over the rows, are tried with up to 20 zeros before their last number.
    """
    texts = without_points(ids).filter(pa.array(~np.isin(digests_of_ids(ids), seen))).to_pylist()
    numbers = [(text, _LAST_NUMBER.fullmatch(text)) for text in texts[:: 1 + len(texts) // 1_000]]
    spellings = [(text, f"{n[1]}{'0' * zeros}{n[2]}") for text, n in numbers if n for zeros in range(21)]
    digests = digests_of_ids(pa.array([spelling for _, spelling in spellings], pa.string()))
    return next(itertools.compress(spellings, np.isin(digests, seen)), None)


def _digest_of_rows(baseline: Predictions) -> str:
    """Return a digest of ids and labels of all rows of the baseline, in any order.

    A candidate that lacks some of the rows, which may be dropped, is another look at the same rows.
    """
    order = pc.sort_indices(baseline.ids)
    content = hashlib.sha256()
    for column in (baseline.ids.take(order), baseline.outcomes.label.take(order)):
        for text in column.to_pylist():
            content.update(f"{len(text)}:{text}".encode())
    return content.hexdigest()
