"""Failed, unscored and repeated answers: refused, dropped or kept, by the same rules in tables and in all logs."""

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sigstats._common.calls import check_rules
from sigstats._common.class_names import NO_ANSWER
from sigstats._common.messages import Note, shown

from ..tables.spelling import same_spelling
from ._columns import Columns
from ._predictions import WRONG, Predictions, are_distinct, first_rows, item_codes, keys_in_two_forms, places, some_ids
from ._repeated import answer_counts

#: The actions if results repeat an id, in the words of the note.
_KEPT = {"first": "the file's first is kept", "last": "the file's last is kept", "all": "each counts as an answer"}
#: At most this many reasons for failures are named.
_REASONS = 3


def settle(predictions: Predictions, columns: Columns) -> Predictions:
    """Keep rows with an answer and a unique pair of id and epoch; notes report the changes.

    Raises ValueError if `columns` requires these rows to be refused.
    """
    predictions = _settle_missing(_settle_repeats(predictions, columns), columns)
    epochs = {"epochs": answer_counts(predictions).partition(" answer")[0]} if predictions.source.harness else {}
    return predictions.but(subject={**predictions.source.subject, **epochs})


def _settle_repeats(predictions: Predictions, columns: Columns) -> Predictions:
    """Make pairs of id and epoch unique: keep the first or the last of repeated rows, or all as answers."""
    if are_distinct(predictions):
        check_rules(predictions, (keys_in_two_forms,))
        return predictions if predictions.epoch is not None else replace(predictions, distinct=predictions.ids)
    codes = item_codes(predictions.keys)
    first, row = first_rows(codes), "answer" if predictions.source.harness else "row"
    repeats = np.flatnonzero(first[codes] != np.arange(len(codes)))
    also = "" if predictions.epoch is None else f" and {'a run' if columns.units.run else 'an epoch'} of it"
    problem = f"{predictions.where}: {len(repeats):,} of {len(codes):,} {row}s repeat an id{also}"
    problem += f": {_ids_of_rows(predictions, pa.array(repeats))}"
    implied = columns.duplicates is None and (predictions.source.repeats or columns.units.group == columns.id)
    action = "all" if implied else columns.duplicates or "refuse"
    if action == "refuse" or (action == "all" and columns.units.run is not None):
        raise ValueError(f"{problem}; {predictions.source.hint}")
    note = Note("repeated-answers", f"{problem}; {_KEPT[action]}")
    notes = predictions.notes if implied else (*predictions.notes, note)
    if action == "all":
        epoch: Any = pc.cast(pa.array(places(codes, np.argsort(codes, kind="stable")) + 1), pa.string())
        if predictions.epoch is not None:
            repeated = pc.binary_join_element_wise(predictions.epoch, epoch, ".")
            epoch = pc.if_else(pc.equal(epoch, pa.scalar("1")), predictions.epoch, repeated)
        return replace(predictions, epoch=epoch, other_columns={}, notes=notes)
    kept = first if action == "first" else len(codes) - 1 - first_rows(codes[::-1])
    return replace(predictions.take(pa.array(np.sort(kept))), distinct=None, notes=notes)


def _settle_missing(predictions: Predictions, columns: Columns) -> Predictions:
    """Return rows with an answer: those without one are dropped, or their answers are wrong."""
    score, label = predictions.score, predictions.outcomes.label
    answers = predictions.outcomes.prediction if score is None else score.values
    if not answers.null_count and not label.null_count:
        return predictions
    missing = pc.or_(pc.is_null(answers), pc.is_null(label))
    problem, action = _missing_in_words(predictions, answers, missing, columns), columns.unscored
    ends, limits = [0.0], () if score is None or score.limits is None else score.limits
    if score is not None and not score.of_truth:
        ends += [end.as_py() or 0.0 for end in pc.min_max(answers).values()]
    low, high = min([*ends, *limits]), max(ends)
    is_share = 0 <= low <= high <= 1 and not (score and score.lower)
    if action == "refuse" or (action == "wrong" and label.null_count):
        wrong = "" if label.null_count or not is_share else "--unscored wrong, which counts them as wrong, or "
        raise ValueError(f"{problem}; add {wrong}--unscored drop, which leaves them out")
    if pc.all(missing).as_py() and (action == "drop" or not predictions.source.harness):
        raise ValueError(f"{problem}; expected one or more with it")
    note = Note("unscored-rows", f"{problem}; {'left out' if action == 'drop' else 'counted as wrong'}")
    filled = predictions.but(**_wrong_predictions(predictions), notes=(*predictions.notes, note))
    if score is not None:
        filled = filled.but(values=pc.fill_null(answers, 0.0), filled=action == "wrong")
    if action == "drop":
        kept, dropped = (filled.take(pc.indices_nonzero(rows)) for rows in (pc.invert(missing), missing))
        return replace(kept, dropped=dropped, distinct=None)
    if not is_share:
        problem = f"unscored: 'wrong' is not valid for scores from {low:g} to {high:g}"
        raise ValueError(f"{predictions.where}: {problem}; expected scores between 0 and 1, where higher is better")
    return filled


def _wrong_predictions(predictions: Predictions) -> dict[str, Any]:
    """Return labels and predictions; a missing prediction becomes the other of two classes, or else no class."""
    outcomes = predictions.outcomes
    if not outcomes.prediction.null_count:
        return {}
    label, prediction = same_spelling([outcomes.label, outcomes.prediction])
    classes = pc.unique(pa.concat_arrays([label, prediction])).drop_null()
    wrong: Any = WRONG if predictions.source.harness else NO_ANSWER
    if len(classes) == 2:
        wrong = pc.if_else(pc.equal(label, classes[0]), classes[1], classes[0])
    return {"label": label, "prediction": pc.coalesce(prediction, wrong)}


def _missing_in_words(predictions: Predictions, answers: Any, missing: Any, columns: Columns) -> str:
    """Count failed answers with reasons, and those without score or label; name their ids."""
    rows, logged = pc.indices_nonzero(missing), predictions.source.harness
    failures = None if predictions.score is None else predictions.score.failed
    reasons = Counter(() if failures is None else failures.take(rows).drop_null().to_pylist())
    total, failed, clauses = f"{len(missing):,} {'answers' if logged else 'rows'}", reasons.total(), []
    if failed:
        counts = [shown(text) + f" {n:,}" * (len(reasons) > 1) for text, n in reasons.most_common(_REASONS)]
        clauses.append(f"{failed:,} of {total} failed ({', '.join(counts)}{', ...' * (len(reasons) > _REASONS)})")
    if unlabelled := predictions.outcomes.label.null_count:
        clauses.append(f"{unlabelled:,} of {total} have no {shown(columns.label)}")
    if (unscored := answers.null_count - failed) > 0:
        score = f"score {shown(predictions.score.name)}" if predictions.score and predictions.score.name else "score"
        name = score if logged else shown(columns.score or columns.prediction)
        clauses.append(f"{unscored:,} of {total} have no {name}")
    return f"{predictions.where}: {' and '.join(clauses)}: {_ids_of_rows(predictions, rows)}"


def _ids_of_rows(predictions: Predictions, rows: Any) -> str:
    ids = some_ids(pc.unique(predictions.keys.take(rows)))
    return f"{ids.replace('id', 'row', 1)} (from 0)" if predictions.by_position else ids
