"""Looks at fresh rows: each evaluation brings new rows, and compares the candidate on all rows so far.

The values of the new rows are stored at each look, since their files may be gone at the next one. Rows of a comparison
are converted to rows of the history (`to_history`), and back (`from_history`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sigstats._common.messages import Note
from sigstats._common.scores import unlike_bar, unlike_units
from sigstats._common.validation import shown
from sigstats.comparison.fresh import RowValues, decide_fresh, repaired_since, row_of_fresh, values_of_rows
from sigstats.comparison.margins import StatedShare, check_margins
from sigstats.comparison.measure_names import reversed_scores
from sigstats.comparison.notes import about_predictions
from sigstats.comparison.result import ComparisonResult
from sigstats.comparison.rows import Change, ComparisonRow
from sigstats.comparison.rule import ComparisonRule, RowTest
from sigstats.comparison.units import ALL_ROWS
from sigstats.measures.metrics import is_lower_better, unit_of
from sigstats.measures.table import MEASURES, MeasureSpec, OwnMeasure
from sigstats.tasks.storage import history
from sigstats.tasks.storage.history import OF_ROWS, ROW, Record
from sigstats.tasks.storage.store import Store

from ..comparison.for_programs import KEYS_OF_ROWS
from ..errors import BadInput
from .pair import Pair, check_bar, digests_of_ids, repadded
from .study import ColumnNames, RegressionStudy

#: More changed labels than these, and than a share of the ids, are not corrections: the ids are of other rows.
_FEW_CORRECTED, _MOST_CORRECTED = 5, 0.2
#: The column of the look at which a row was new, of rows in memory.
_LOOK = "look"
#: Attributes of a row of a comparison, by their other names as columns of the history.
_ATTRIBUTES = {
    "baseline_value": "baseline",
    "candidate_value": "candidate",
    "row_verdict": "verdict",
    **{column: attribute for attribute, column in KEYS_OF_ROWS.items()},
}


def to_history(row: ComparisonRow) -> dict[str, object]:
    """Return the values of a row in the columns of the history."""
    ends = zip(("candidate_low", "candidate_high"), row.candidate_interval or (None, None), strict=True)
    windows = (pair for names, values in zip(history.WINDOWS, row.windows) for pair in zip(names, values))  # noqa: B905
    others = {"measure": row.name, **dict(ends), **dict.fromkeys(sum(history.WINDOWS, ())), **dict(windows)}
    others |= dict(zip(history.CHANGE, row.change or (None,) * 3, strict=True))
    return {
        name: others[name] if name in others else getattr(row, _ATTRIBUTES.get(name, name))
        for name in history.ROW_NAMES
    }


def _measure_named(name: str, *, lower: bool) -> str:
    """Return the measure of a stored row; an unknown measure counts in its own unit."""
    try:
        MEASURES[name]
    except (KeyError, ValueError):
        name = OwnMeasure(MeasureSpec(name=name, needs="classes", unit="own", greater_is_better=not lower))
    return name


def from_history(stored: Mapping[str, Any], columns: ColumnNames, *, fresh: bool = True) -> ComparisonRow:
    """Return the row as it was stored. `columns` state for which scores lower is better. `fresh`: rows were fresh."""
    measure, _, score = stored["measure"].partition(" of ")  # as `ComparisonRow.name` has them
    lower = stored["lower_is_better"]  # None in histories of earlier versions
    directions = columns.lower_is_better, columns.higher_is_better
    values = {_ATTRIBUTES.get(name, name): value for name, value in stored.items()}
    return ComparisonRow(
        **{field.name: values[field.name] for field in fields(ComparisonRow) if field.name in values}
        | {
            "measure": _measure_named(measure, lower=bool(lower)),
            "score": score,
            "test": RowTest(stored["test"], "betting" if fresh else "exchange"),
            "lower_is_better": bool(is_lower_better(score, *directions) if lower is None else lower),
            "relative": bool(stored["relative"]),
            "unit": unit_of(score),
            "change": None if stored["change"] is None else Change(*(stored[name] for name in history.CHANGE)),
            "windows": tuple(tuple(stored[name] for name in window) for window in history.WINDOWS),
        }
    )


def compare_fresh(
    study: RegressionStudy, pair: Pair, store: Store, records: Sequence[Record], rule: ComparisonRule, segment: int
) -> tuple[ComparisonResult, pa.Table]:
    """Return the comparison on all rows since the look `segment`, and the values of the new ones.

    A fault that is shown to be repaired ends: then the comparison is that of the rows after its alarm.
    """
    against_bar = study.bar is not None
    values = [
        values_of_rows(paired, study.measures, positive=study.positive, against_bar=against_bar)
        for paired in pair.by_score
    ]
    check_margins(replace(rule, margins={}), [of_measure.row for of_score in values for of_measure in of_score])
    if study.bar is not None:
        checked = check_bar(study, pair.by_score[0], study.bar, replace(rule, smallest_slice=1))
        bar = checked.rows[0].baseline or 0.0  # in the unit of the measure
        values = [[of_measure.against(bar) for of_measure in values[0]]]
    this_look = _table(pair, values)
    earlier = list(_earlier_looks(store, records))
    fresh = this_look.filter(pa.array(_is_new(pair, this_look[ROW].to_numpy(), earlier)))
    numbered = [
        table.append_column(_LOOK, pa.array(np.full(len(table), look)))
        for look, table in enumerate([*earlier, fresh], start=1)
    ]
    so_far = pa.concat_tables(numbered, promote_options="default")
    looks = _Looks(study, [of_measure for of_score in values for of_measure in of_score], so_far)
    rows, n = looks.decided(records, segment, rule)
    notes = [Note("new-rows", f"{len(fresh):,} of {so_far.num_rows:,} rows are new")]
    alarms = alarms_of(records[segment - 1 :])
    if (since := looks.repaired_since(alarms, study.alpha)) is not None:
        # The data chose the first look: the shares 1 / (k (k + 1)) of all choices k = 1, 2, ... add up to 1.
        k = since - max(alarm for _, alarm in alarms.values())
        level = 1 - (1 - rule.confidence_level) / (k * (k + 1))
        rows_since, n_since = looks.decided([], since, replace(rule, confidence_level=level))
        if not any(row.verdict == "fail" for row in rows_since):
            rows, n = rows_since, n_since
            notes.append(Note("repaired", f"repaired: the rows since look {since} are compared"))
    notes += _about_rows(study, pair, values)
    notes += looks.units_changed()
    notes += _about_earlier_rows(pair, earlier, len(this_look) - len(fresh))
    notes += dict.fromkeys(note for paired in pair.by_score for note in paired.notes)
    subjects = pair.by_score[0].subjects
    return ComparisonResult(rows=rows, rule=rule, n=n, notes=tuple(notes), subjects=subjects), fresh


def _is_new(pair: Pair, rows: NDArray[np.int64], earlier: Sequence[pa.Table]) -> NDArray[np.bool_]:
    """Return a mask of the rows that no earlier look had; BadInput if there are none, or ids have two spellings."""
    seen = np.concatenate([np.empty(0, np.int64), *(table[ROW].to_numpy() for table in earlier)])
    new = ~np.isin(rows, seen)
    if not new.any():
        problem = f"{pair.candidate} has no new row: all {len(new):,} ids occurred at earlier looks"
        raise BadInput(f"looks.rows: {problem}; give fresh rows new ids")
    if spellings := repadded(pair.by_score[0].ids, seen):
        other = f"id {shown(spellings[0])} is new, but an earlier look had {shown(spellings[1])}"
        raise BadInput(f"looks.rows: {other}; spell ids alike at all looks, or give new rows other ids")
    return new


def _about_earlier_rows(pair: Pair, earlier: Sequence[pa.Table], repeated: int) -> list[Note]:
    """Return notes on the rows of earlier looks, and on their labels; raise ValueError if most labels have changed."""
    notes = [Note("repeated-rows", f"{repeated:,} rows occurred at earlier looks and are left out")] if repeated else []
    if corrected := history.relabelled(earlier, pair.rows, pair.labels):
        if corrected > max(_FEW_CORRECTED, _MOST_CORRECTED * repeated):
            text = f"{corrected:,} of {repeated:,} ids of earlier looks have other labels, as if numbers began again"
            raise ValueError(f"{pair.candidate}: {text}; expected ids that no two looks share, such as date and number")
        text = f"{corrected:,} rows of earlier looks have other labels now; their earlier values are kept"
        notes.append(Note("labels", text))
    return notes


def _about_rows(study: RegressionStudy, pair: Pair, values: Sequence[Sequence[RowValues]]) -> list[Note]:
    """Return notes on the predictions, and on a bar that may be in another unit."""
    models = ("the baseline", "the candidate") if study.bar is None else ("the model",)
    notes: list[Note] = []
    for paired, of_score in zip(pair.by_score, values, strict=True):
        names = [of_measure.row.measure for of_measure in of_score]
        notes += [*about_predictions(paired, names, models), *reversed_scores(paired, names, study.positive, models)]
    if (bar := study.bar) is not None and not isinstance(bar, StatedShare):
        marks = [mark for mark in values[0] if MEASURES[mark.row.measure].needs in ("marks", "numbers")]
        notes += [note for mark in marks for note in unlike_bar(mark.candidate, bar, limited=not mark.share)]
    return notes


class _Looks(NamedTuple):
    """The rows of all looks, with their slices and values."""

    study: RegressionStudy
    measures: Sequence[RowValues]
    rows: pa.Table

    def units_changed(self) -> list[Note]:
        """Return notes on scores whose unit may differ between this look and earlier ones."""
        look, notes = pc.field(_LOOK), []
        last = pc.max(self.rows[_LOOK])
        for values in self.measures:
            sides = [_with_values(values, self.rows.filter(of)) for of in (look < last, look == last)]
            models = [side.candidate if self.study.bar is not None else side.baseline for side in sides]
            lower = values.row.lower_is_better
            notes += unlike_units(models, ("earlier looks", "this look"), costs=lower) if len(models[0]) else []
        return notes

    def decided(
        self, records: Sequence[Record], first: int, rule: ComparisonRule
    ) -> tuple[tuple[ComparisonRow, ...], int]:
        """Return the comparison of all looks since the first, and the number of their rows."""
        records, so_far = records[first - 1 :], self.rows.filter(pc.field(_LOOK) >= first)
        latest = {(row["slice"], row["measure"]): row for record in records for row in record.rows}
        family = {(row["slice"], row["measure"]) for record in records[:1] for row in record.rows}
        by_rate, rows = self.study.looks.run_length is not None, []
        for name, where in _slices(so_far, self.study.slices):
            in_slice = so_far.filter(where)
            for values in self.measures:
                key = name, values.row.name
                before = from_history(latest[key], self.study.columns) if key in latest else None
                late = bool(records) and key not in family
                rows.append(row_of_fresh(_with_values(values, in_slice), name, before, rule, late=late, rate=by_rate))
        return decide_fresh(rows, len(family) or len(rows), rule), so_far.num_rows

    def repaired_since(self, alarms: Mapping[tuple[str, str], tuple[int, int]], alpha: float) -> int | None:
        """Return the look since which every failed row is shown to have lost less than half; None if some are not."""
        slices, since = dict(_slices(self.rows, self.study.slices)), list[int]()
        for (name, measure), (change, alarm) in alarms.items():
            values = next(values for values in self.measures if values.row.name == measure)
            in_slice = _with_values(values, self.rows.filter(slices[name]))
            gain = float(in_slice.at((change <= in_slice.looks) & (in_slice.looks <= alarm)).differences.mean())
            look = repaired_since(in_slice.at(in_slice.looks > alarm), gain, alpha)
            since += [] if look is None else [look]
        return max(since) if since and len(since) == len(alarms) else None


def alarms_of(records: Sequence[Record]) -> dict[tuple[str, str], tuple[int, int]]:
    """Return the estimated look of the change, and the first failed look, of each slice and measure that failed."""
    return {
        (row["slice"], row["measure"]): (row["change"], record.evaluation.look)
        for record in reversed(records)
        for row in record.rows
        if row["row_verdict"] == "fail"
    }


def _earlier_looks(store: Store, records: Sequence[Record]) -> Iterator[pa.Table]:
    """Yield the values of the fresh rows of each look; refused if those of a look are lost."""
    names = [record.evaluation.held_out for record in records]
    for name, record in zip(names, records, strict=True):
        table = history.read_kept(store, OF_ROWS, name) if names.count(name) == 1 else None
        if table is None:
            raise BadInput(
                f"looks.rows: {store.root}: the values of the fresh rows of look {record.evaluation.look} "
                f"({record.evaluation.candidate}) are lost; expected {OF_ROWS}/{name[:16]}.parquet as that look "
                "wrote it, or another output"
            )
        yield table


def _table(pair: Pair, values: Sequence[Sequence[RowValues]]) -> pa.Table:
    """Return a row for each id: its digest, the slices, and the values of baseline and candidate in each measure."""
    keys = [digests_of_ids(paired.ids) for paired in pair.by_score]
    every = np.unique(np.concatenate(keys))
    place = np.minimum(np.searchsorted(pair.rows, every), len(pair.rows) - 1)
    columns: dict[str, Any] = {ROW: every, history.LABEL: pair.labels[place]}
    for paired, of_pair, of_score in zip(pair.by_score, keys, values, strict=True):
        place = np.searchsorted(every, of_pair)
        for column, (names, codes) in paired.units.slices.items():
            text = columns.setdefault(f"slice {column}", np.full(len(every), None, dtype=object))
            text[place] = np.array(names, dtype=object)[codes]
        for of_measure in of_score:
            for side in ("baseline", "candidate"):
                filled = columns.setdefault(f"{side} {of_measure.row.name}", np.full(len(every), np.nan))
                filled[place] = getattr(of_measure, side)
    types = {name: pa.string() if column.dtype == object else None for name, column in columns.items()}
    return pa.table({name: pa.array(column, type=types[name]) for name, column in columns.items()})


def _slices(rows: pa.Table, columns: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """Yield the name and the mask of all rows and of each slice."""
    yield ALL_ROWS, pa.array(np.ones(rows.num_rows, dtype=bool))
    for column in columns:
        text = np.array(rows[f"slice {column}"].to_pylist(), dtype=object)
        for value in sorted({item for item in text if item is not None}):
            yield f"{column} = {value}", pa.array(text == value)


def _with_values(values: RowValues, rows: pa.Table) -> RowValues:
    """Return the values of a measure in these rows, without rows that lack them."""
    a, b = (rows[f"{side} {values.row.name}"].to_numpy() for side in ("baseline", "candidate"))
    have = ~np.isnan(a)
    return replace(values, baseline=a[have], candidate=b[have], looks=rows[_LOOK].to_numpy()[have])
