"""Parts of reading a table, for `_from_table`: scores, epochs, probabilities of classes, and notes on the columns."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sigstats._common.class_columns import as_class_probabilities, equal_probabilities, likeliest, with_places
from sigstats._common.class_names import refuse_missing_texts, refuse_unlisted
from sigstats._common.class_spelling import OF_RUNS, VERDICTS, is_summary
from sigstats._common.column_names import HISTORY, RUN
from sigstats._common.messages import Note, some_of
from sigstats._common.validation import hint, refuse, shown
from sigstats.measures.metrics import is_lower_better, limits_of, metric_of

from ..tables.spelling import Array, is_number, rows_of_short, same_spelling, to_numbers, without_empty
from ..tables.table import Table, WithMissing
from ._columns import MODELS, Columns, TableColumns
from ._other_columns import as_dictionaries, unused_notes
from ._predictions import Outcomes, Scores, Source
from ._row_order import differing

#: A whole number with more digits may exceed the range of float64.
_LONGEST_NUMBER = 308
_PERCENT = r"^([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)) ?%$"
#: Words that do not state by themselves which of them is better; None is a missing word.
_ANSWERS = ("yes", "no", "true", "false", None)


def rows_of_model(table: Table, model: str) -> Table:
    """Return the rows of one of several models."""
    if MODELS not in table.names:
        remedy = f"rename the column of models to {shown(MODELS)}"
        raise table.error(MODELS, f" was not found, so --model {model} names no rows; {remedy}")
    names: Any = table.texts(MODELS)
    rows = pc.indices_nonzero(pc.is_in(names, value_set=pa.array([model])))
    if not len(rows):
        near = hint(model, pc.unique(names).to_pylist())
        raise ValueError(f"{table.where}: model: {shown(model)} was not found; {near}")
    return table.take(rows)


def other_columns_of(table: Table, columns: TableColumns) -> dict[str, Any]:
    """Return all other columns; empty if not all of them were read, or if ids have several answers."""
    if columns.units.run is not None or columns.units.epoch is not None:
        return {}
    used = [name for name in columns.wanted if name != columns.id or not columns.by_position]
    names, read = [name for name in table.names if name not in used], table.other_columns(used)
    return as_dictionaries({name: read[name] for name in names}, table.num_rows) if read.keys() >= {*names} else {}


def check_texts(table: Table, name: str, texts: Any, columns: Columns) -> None:
    """Refuse texts that usually mean a missing value, unless listed as classes, and numbers too large for float64."""
    values = texts.dictionary if pa.types.is_dictionary(texts.type) else texts
    if name != columns.score and (pc.max(pc.binary_length(values)).as_py() or 0) > _LONGEST_NUMBER:
        for row, text in enumerate(texts.to_pylist()):
            if text and len(text) > _LONGEST_NUMBER and is_number(text) and math.isinf(float(text)):
                raise table.error(name, f": {shown(text)} is not valid; expected a class, or a number below 1e308", row)
    if name not in table.names:
        return
    what = {columns.prediction: "predictions", columns.label: "labels", columns.score: "scores"}.get(name, "values")
    listed = "" if name == columns.score else ", or list {} in --classes if it is a class"
    remedy = f"add --missing {{}} if they are missing{listed}"
    where, n = str(table.error(name, "")), len(texts)
    refuse_missing_texts(where, rows_of_short(texts), remedy, classes=columns.form.classes, n=n, what=what)
    if name == columns.label and columns.form.classes:
        spelled = same_spelling([pc.unique(values).drop_null(), pa.array(columns.form.classes, pa.string())])
        refuse_unlisted(where, *(column.to_pylist() for column in spelled))


def epochs_of(table: Table, columns: Columns) -> Any:
    """Return each row's run or epoch, or None; refuse one that is a mean or majority of the others."""
    name = columns.units.run or columns.units.epoch
    if name is None:
        return None
    texts = table.texts(name)
    names = pc.unique(texts).to_pylist()
    odd = [text for text in names if is_summary(text) or text.strip().casefold() in OF_RUNS]
    if len(names) > 1 and odd:
        row = pc.index(texts, odd[0]).as_py()
        raise table.error(name, f": {shown(odd[0])} is a summary of the others; remove its rows", row)
    return texts


def read_scores(table: Table, columns: Columns) -> Scores | None:
    """Return the scores of the rows, null if missing; None if no column of scores is named."""
    name, scoring = columns.score, columns.scoring
    if name is None:
        return None
    try:
        values, limits = table.numbers(name, or_missing=True), limits_of(name)
    except ValueError as error:
        values, limits = _marks_in_words(table, columns, name, error)
    per, denominators = scoring.per, None
    if per is not None:
        denominators = table.numbers(per)
        if (low := pc.min(denominators).as_py()) < 0:
            raise table.error(per, f": {low:g} is not valid; expected 0 or more", pc.index(denominators, low).as_py())
    return Scores(
        values,
        name if per is None else f"{name}/{per}",
        per=denominators,
        lower=scoring.is_lower_better(name, per=per or ""),
        by_name=name not in scoring.lower,
        limits=limits,
    )


def _marks_in_words(
    table: Table, columns: Columns, name: str, error: ValueError
) -> tuple[Any, tuple[float, float] | None]:
    """Return the marks of a column of percentages or verdicts, null if missing, and their limits.

    85% is 0.85, and "yes" and "failed" are 1 and 0. `error` is raised if the column is neither.
    """
    try:
        texts = table.texts_or_missing(name)
    except ValueError:  # numbers, of which one is infinite
        raise error from None
    check_texts(table, name, texts, columns)
    words = without_empty(pc.utf8_lower(texts))
    if pc.all(pc.match_substring_regex(words, _PERCENT)).as_py():
        return to_numbers(pc.replace_substring_regex(words, _PERCENT, r"\1e-2")), limits_of(name)  # rounded once
    known_or_missing: Any = pc.is_in(words, value_set=pa.array([*VERDICTS, None]))
    if odd := pc.indices_nonzero(pc.invert(known_or_missing)).to_pylist():
        if len(odd) == len(words) - words.null_count:
            raise error
        text = shown(texts[odd[0]].as_py())  # "error", which may mean that there is no mark
        remedy = f"use one word for right and one for wrong, or add --missing {text}"
        raise table.error(name, f": {text} is not valid; {remedy}", odd[0]) from None
    has_direction = name in columns.scoring.lower | columns.scoring.higher
    are_answers = pc.all(pc.is_in(words, value_set=pa.array(_ANSWERS))).as_py()
    if is_lower_better(name) and not has_direction and not are_answers:  # "passed" in a column of errors
        both = f"--higher-is-better {shown(name)} or --lower-is-better {shown(name)}"
        raise table.error(name, f": it has the name of a cost and the words of marks; add {both}") from None
    places: Any = pc.index_in(words, value_set=pa.array(VERDICTS.keys()))
    return pa.array(VERDICTS.values(), pa.float64()).take(places), (0.0, 1.0)


class WithLikeliest(WithMissing):
    """All rows of a table, with the likeliest class as the prediction, unless there is a column of predictions.

    `of_labels`: each row has one class of probability 1.
    """

    def __init__(self, table: Table, columns: Any, *, of_labels: bool) -> None:
        super().__init__(table, columns.form.missing)
        self.classes = [class_name for class_name, _ in columns.of_classes]
        names = [name for _, name in columns.of_classes]
        if len(set(self.classes)) < max(2, len(names)):
            matched = some_of(names) if names else "none"
            fit = f"{columns.probabilities!r} matches {matched} of {some_of(table.names, 10)}"
            raise ValueError(f"{table.where}: probabilities: {fit}; expected a column for each class")
        values = np.column_stack([table.numbers(name).to_numpy() for name in names])
        self.probabilities = as_class_probabilities(values, f"{table.where}: probabilities", table.num_rows)
        if of_labels and not (values.max(axis=1) == 1).all():
            raise refuse(f"{table.where}: probabilities", "a row", "1 for the true class and 0 for others")
        self.name_of_likeliest = "" if columns.prediction in table.names else columns.prediction
        self.names += (self.name_of_likeliest,) if self.name_of_likeliest else ()
        classes, ties = likeliest(values, np.asarray(self.classes))
        self.likeliest, self.ties = pa.array(classes.tolist(), pa.string()), ties

    def of_classes(self, name: str, label: Any) -> Any:
        """Return the table for `Scored.of_classes` as an array of lists; null if a label is missing."""
        texts, classes = same_spelling([label.cast(pa.string()), pa.array(self.classes, pa.string())])
        places: Any = pc.index_in(texts, value_set=classes)
        if len(odd := pc.indices_nonzero(pc.and_(pc.is_null(places), pc.is_valid(texts)))):
            row = odd[0].as_py()
            raise self.error(name, f": {shown(texts[row].as_py())} is not one of {some_of(self.classes, 10)}", row)
        values = with_places(self.probabilities, self.classes, pc.fill_null(places, 0).to_numpy())
        return pa.FixedSizeListArray.from_arrays(pa.array(values.ravel()), values.shape[1], mask=pc.is_null(places))

    def _values(self, name: str) -> Array:
        return self.likeliest if name == self.name_of_likeliest else super()._values(name)


def source_of(table: Table, columns: Columns, *, in_tasks: bool) -> Source:
    """Return the metadata of a table, with advice for repeated ids; `in_tasks`: True if ids restart in each task."""
    chosen, run = columns.chosen, next(filter(RUN.search, table.names), "")  # a column that seems to number runs
    several = MODELS in table.names and chosen.model is None
    hints = "--model NAME reads those of one model; " if several else ""
    hints += f"--run {run} takes them as those of runs of a recipe, which are independent; " if run else ""
    hints += f"--group {columns.id} or --epoch COLUMN takes them as answers to one item; or add --duplicates first, "
    hints += "last or all; or --task COLUMN, if ids restart in each task"
    subject = {} if chosen.model is None else {"model": chosen.model}
    task = (columns.units.task or "") if in_tasks else ""
    return Source(subject=subject, hint=hints, names=tuple(table.names), task=task)


def notes_on(table: Table, columns: TableColumns, outcomes: Outcomes) -> Iterator[Note]:
    """Yield notes on guessed columns, unused columns and texts, and doubtful predictions."""
    if columns.known:
        read = ", ".join(f"column {shown(name)} as the {key}" for key, name in columns.known)
        yield Note("known-columns", f"read are {read}")
    if columns.by_position:
        unconfirmed = outcomes.graded or (columns.truth is not None and columns.label not in table.names)
        labels = "no labels confirm that they are the same" if unconfirmed else "the labels agree"
        joined = "1 row is joined by its" if table.num_rows == 1 else f"{table.num_rows:,} rows are joined by their"
        yield Note("joined-by-position", f"{joined} position; {labels}")
    run = next(filter(RUN.search, table.names), "")
    if run and (columns.units.epoch is not None or columns.units.group == columns.id):
        text = f"if column {shown(run)} numbers runs of a recipe (trainings), these are independent: --run {run}"
        yield Note("possible-runs", text)
    others = table.other_columns(columns.wanted) if columns.chosen.model is None else {}
    for column in as_dictionaries({MODELS: others[MODELS]} if MODELS in others else {}, table.num_rows).values():
        models = column.dictionary.drop_null().to_pylist()
        if 1 < len(models) <= table.num_rows // 2:
            text = f"{some_of([*map(shown, models)])}, whose rows are read as those of one; --model NAME reads one"
            yield Note("several-models", f"column {shown(MODELS)} names {len(models):,} models, {text}")
    has_verdict = outcomes.predicted and columns.label != columns.prediction and "prediction" not in columns.named
    answers = (outcomes.label, outcomes.prediction) if has_verdict and columns.score is None else ()
    yield from unused_notes(table, columns.wanted, answers, graded=outcomes.graded)
    yield from one_history(table, columns) if outcomes.graded else ()
    if not isinstance(table, WithLikeliest):
        return
    if table.name_of_likeliest and table.ties:
        yield equal_probabilities(table.ties, table.num_rows).of(table.where)
    elif not table.name_of_likeliest and outcomes.predicted:
        n = len(differing(*same_spelling([outcomes.prediction.cast(pa.string()), table.likeliest])))
        if n > table.ties:
            text = f"{n:,} of {table.num_rows:,} predictions are not the class of the highest probability"
            yield Note("unlikely-predictions", f"{table.where}: {text}")


def one_history(table: Table, columns: TableColumns) -> Iterator[Note]:
    """Yield a note on fractions or losses if the first column has increasing epochs, steps or thresholds."""
    name, units, known = table.names[0], columns.units, metric_of(columns.score or "")
    is_known = known is not None and (known.limits is not None or known.name.endswith("loss"))
    if not is_known or not HISTORY.search(name) or name in (columns.score, units.epoch, units.run, units.group):
        return
    given = table.other_columns(())
    first, scores = (to_numbers(table.texts_or_missing(of)) if of in given else None for of in (name, columns.score))
    if first is None or scores is None or first.null_count or pc.all(pc.is_in(scores, pa.array([0.0, 1.0]))).as_py():
        return
    if table.num_rows > 2 and bool((np.diff(first.to_numpy()) > 0).all()):
        text = f"column {shown(name)} increases from row to row"
        doubt = "the rows seem to be epochs or settings of one model, not items"
        yield Note("one-history", f"{text}: {doubt}", doubt)
