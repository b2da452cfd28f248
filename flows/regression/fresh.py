"""Looks at fresh rows: what each new row counts is kept, and the candidate is compared on all rows so far."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from sigstats._common.note import Note
from sigstats.comparison.fresh import RowValues, decide_fresh, row_of_fresh, values_of_rows
from sigstats.comparison.result import ComparisonResult
from sigstats.comparison.row_test import RowTest
from sigstats.comparison.rows import ComparisonRow
from sigstats.comparison.rule import ComparisonRule
from sigstats.comparison.units import ALL_ROWS
from sigstats.measures.metrics import is_lower_better, unit_of
from sigstats.tasks.storage import history
from sigstats.tasks.storage.history import OF_ROWS, ROW, Record
from sigstats.tasks.storage.seal import Damaged
from sigstats.tasks.storage.store import Store

from ..comparison.for_programs import KEYS_OF_ROWS, row_as_object
from ..errors import BadInput
from ..pages.wording import count_of
from .pair import NO_RULES, Pair, digests_of_ids, made_by
from .study import ColumnNames, RegressionStudy

#: The column of the look at which a row was new, of rows in memory.
_LOOK = "look"
_KEPT = (
    *("slice", "n", "difference", "low", "high", "pvalue", "adjusted_pvalue", "pd", "psd", "nsd", "test", "note"),
    *("two_sided_pvalue", "differing", "deciding"),
)


def kept_row(row: ComparisonRow) -> dict[str, object]:
    """The columns of the history."""
    low, high = row.candidate_interval or (None, None)
    values = row_as_object(row)
    return {
        **{name: values.get(name) for name in history.ROW_NAMES},
        "measure": row.name,
        "baseline_value": row.baseline,
        "candidate_value": row.candidate,
        "candidate_low": low,
        "candidate_high": high,
        "row_verdict": row.verdict,
    }


def row_of(kept: Mapping[str, Any], columns: ColumnNames) -> ComparisonRow:
    """The row as it was stored; `columns` state for which scores lower is better."""
    measure, _, score = kept["measure"].partition(" of ")  # as `ComparisonRow.name` has them
    stated = kept["lower_is_better"]  # None in histories of earlier versions
    said = columns.lower_is_better, columns.higher_is_better
    return ComparisonRow(
        **{name: kept[KEYS_OF_ROWS.get(name, name)] for name in _KEPT} | {"test": RowTest(kept["test"], "betting")},
        measure=measure,
        score=score,
        baseline=kept["baseline_value"],
        candidate=kept["candidate_value"],
        verdict=kept["row_verdict"],
        lower_is_better=bool(is_lower_better(score, *said) if stated is None else stated),
        relative=bool(kept["relative"]),
        margin=kept["margin"],
        unit=unit_of(score),
    )


def refuse_changed(store: Store, study: RegressionStudy, records: Sequence[Record], looks: int) -> None:
    """Refuse rules that are not those of the looks before, which no level of them all would hold for, or are lost."""
    lost = BadInput(
        f"--output: {store.root}: the rules of its {count_of(looks, 'look')} are lost; expected study.json as the "
        "last look wrote it, or another output"
    )
    try:
        stored = store.read_json("study.json")["study"]
    except (FileNotFoundError, Damaged, KeyError):
        if not looks:
            return
        raise lost from None
    try:  # keys that came since have their defaults
        known = RegressionStudy.model_validate(stored, strict=False)
    except ValueError:
        raise BadInput(
            f"--output: study.json in {store.root} is of no regression study; choose another output"
        ) from None
    if not all(made_by(known, record) for record in records):
        raise lost
    before = known.model_dump(mode="json")
    for key, value in study.model_dump(mode="json", exclude={*NO_RULES}).items():
        if before.get(key) != value:
            raise BadInput(f"{key}: {value} is not valid after looks with {before.get(key)}; choose another output")


def compare_fresh(
    study: RegressionStudy, pair: Pair, store: Store, records: Sequence[Record], rule: ComparisonRule
) -> tuple[ComparisonResult, pa.Table]:
    """The comparison on all rows so far, and the counts of the new ones."""
    tests = [values_of_rows(paired, study.measures, positive=study.positive) for paired in pair.by_score]
    tonight = _table(pair, tests)
    kept = list(_kept(store, records))
    seen = np.concatenate([np.empty(0, np.int64), *(table[ROW].to_numpy() for table in kept)])
    new = ~np.isin(tonight[ROW].to_numpy(), seen)
    if not new.any():
        raise BadInput(
            f"looks.rows: {pair.candidate} has no new row: all {len(new):,} ids occurred at earlier looks; "
            "give fresh rows new ids"
        )
    fresh = tonight.filter(pa.array(new))
    numbered = [
        table.append_column(_LOOK, pa.array(np.full(len(table), look))) for look, table in enumerate([*kept, fresh])
    ]
    so_far = pa.concat_tables(numbered, promote_options="default")
    before = {(row["slice"], row["measure"]): row for record in records for row in record.rows}
    family = {(row["slice"], row["measure"]) for record in records[:1] for row in record.rows}
    rows = []
    for name, where in _slices(so_far, study.slices):
        for values in (row_values for of_score in tests for row_values in of_score):
            known, mine = before.get((name, values.row.name)), (name, values.row.name)
            there = _there(values, so_far.filter(where))
            late = bool(records) and mine not in family
            before_it = None if known is None else row_of(known, study.columns)
            rows.append(row_of_fresh(there, name, before_it, rule, late=late))
    repeated = int(np.count_nonzero(~new))
    notes = [Note("new-rows", f"{np.count_nonzero(new):,} of {so_far.num_rows:,} rows are new")]
    told = f"{repeated:,} rows occurred at earlier looks and are left out"
    notes += [Note("repeated-rows", told)] if repeated else []
    result = ComparisonResult(
        rows=decide_fresh(rows, len(family) or len(rows), rule),
        rule=rule,
        n=so_far.num_rows,
        notes=(*notes, *dict.fromkeys(note for paired in pair.by_score for note in paired.notes)),
        subjects=pair.by_score[0].subjects,
    )
    return result, fresh


def _kept(store: Store, records: Sequence[Record]) -> Iterator[pa.Table]:
    """The counts of the fresh rows of each look; refused if those of a look are lost."""
    names = [record.evaluation.held_out for record in records]
    for name, record in zip(names, records, strict=True):
        table = history.read_kept(store, OF_ROWS, name) if names.count(name) == 1 else None
        if table is None:
            raise BadInput(
                f"looks.rows: {store.root}: what the rows of look {record.evaluation.look} "
                f"({record.evaluation.candidate}) count is lost; expected {OF_ROWS}/{name[:16]}.parquet as that look "
                "wrote it, or another output"
            )
        yield table


def _table(pair: Pair, tests: Sequence[Sequence[RowValues]]) -> pa.Table:
    """For each row: the digest of its id, its slices, and the counts of baseline and candidate in each measure."""
    keys = [digests_of_ids(paired.ids) for paired in pair.by_score]
    every = np.unique(np.concatenate(keys))
    columns: dict[str, Any] = {ROW: every}
    for paired, mine, of_score in zip(pair.by_score, keys, tests, strict=True):
        place = np.searchsorted(every, mine)
        for column, (names, codes) in paired.units.slices.items():
            text = columns.setdefault(f"slice {column}", np.full(len(every), None, dtype=object))
            text[place] = np.array(names, dtype=object)[codes]
        for values in of_score:
            for side in ("baseline", "candidate"):
                filled = columns.setdefault(f"{side} {values.row.name}", np.full(len(every), np.nan))
                filled[place] = getattr(values, side)
    types = {name: pa.string() if value.dtype == object else None for name, value in columns.items()}
    return pa.table({name: pa.array(value, type=types[name]) for name, value in columns.items()})


def _slices(rows: pa.Table, columns: Sequence[str]) -> Iterator[tuple[str, Any]]:
    yield ALL_ROWS, pa.array(np.ones(rows.num_rows, dtype=bool))
    for column in columns:
        text = np.array(rows[f"slice {column}"].to_pylist(), dtype=object)
        for value in sorted({item for item in text if item is not None}):
            yield f"{column} = {value}", pa.array(text == value)


def _there(values: RowValues, rows: pa.Table) -> RowValues:
    a, b = (rows[f"{side} {values.row.name}"].to_numpy() for side in ("baseline", "candidate"))
    have = ~np.isnan(a)
    return replace(values, baseline=a[have], candidate=b[have], looks=rows[_LOOK].to_numpy()[have])
