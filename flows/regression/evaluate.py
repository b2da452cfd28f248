"""Evaluate a regression study: find the candidates that are due, compare, append to the history, draw the trend."""

import contextlib
import datetime as dt
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from sigstats._common.messages import Note, rephrased
from sigstats._common.numerals import count_of
from sigstats.comparison.answer import reasons
from sigstats.comparison.compare import compare_scores
from sigstats.comparison.result import ComparisonResult
from sigstats.tasks.storage import history
from sigstats.tasks.storage.files import Locked
from sigstats.tasks.storage.history import Evaluation, Record
from sigstats.tasks.storage.store import Store

from ..comparison.for_programs import as_json
from ..comparison.page import as_html
from ..errors import BadInput, file_errors
from ..running.options import RunOptions
from ..running.output import another_study, stored_study
from . import ledger
from .fresh import compare_fresh, to_history
from .ledger import Episode, Look
from .order import Order, name_of
from .page import answers_of, write_regression_report
from .pair import Pair, as_meant, check_bar, identity_of, made_by, measures_of, order_of, read_pair, with_own_measures
from .study import RegressionStudy, in_keys

#: Seconds to wait for other evaluations of the same history; each takes a few.
_LOCK_TIMEOUT = 600.0


@dataclass(frozen=True)
class Evaluated:
    """A regression study that was evaluated."""

    #: The study, with defaults for the measures and looks that it does not state.
    study: RegressionStudy
    record: Record
    comparison: ComparisonResult
    #: False if the history already contained this comparison.
    appended: bool
    #: The folder or the URL of the history.
    output: str
    #: The locations of the report of the history and of the page of this comparison.
    report: str
    page: str
    #: The number and the level of the look, and what the looks before it left.
    look: Look
    #: The faults so far, the last one last.
    episodes: tuple[Episode, ...]
    #: A line for each file of the history that cannot be used, each candidate left out, and a changed rule.
    notes: tuple[str, ...]
    #: The newest candidate and the order of the matches, in words; empty if there is one match.
    newest: str = ""


def evaluate(study: RegressionStudy, options: RunOptions) -> list[Evaluated]:
    """Compare each candidate that is due, the oldest first, and append the result to the history in the output.

    The newest candidate and those that arrived since the last evaluation are due. One that cannot be compared does not
    keep later ones from being evaluated; a note names it.
    """
    study = with_own_measures(study, options.allow)
    order, due = _candidates_due(study, options.base, Store(options.output))
    evaluated, notes = [], [*due.notes]
    for candidate in due.candidates:
        try:
            pair = read_pair(order, candidate)
            evaluated.append(_evaluate(as_meant(study, pair), pair, options))
        except BadInput as error:
            if candidate == due.candidates[-1]:
                before = [f"{name_of(one.record.evaluation.candidate)} ({one.comparison.verdict})" for one in evaluated]
                after = f"; evaluated before it: {', '.join(before)}" if before else ""
                raise BadInput(f"{error}{after}") from None
            notes.append(f"left out: {name_of(candidate)}: {error}")
    evaluated[-1] = replace(evaluated[-1], notes=(*evaluated[-1].notes, *notes), newest=due.newest)
    return evaluated


def _candidates_due(study: RegressionStudy, base: Path, store: Store) -> tuple[Order, ledger.Due]:
    """Return the order of all candidates, and the candidates to evaluate; BadInput if another study has the output.

    The name of a study does not matter if its files are the same.
    """
    stored = stored_study(store)[0]
    before = stored["study"] if stored and isinstance(stored.get("study"), dict) else {}
    renamed = any(before.get(key) == getattr(study, key) for key in ("baseline", "candidate"))
    for key in ("kind",) if renamed else ("kind", "name"):
        if stored is not None and before.get(key) != getattr(study, key):
            raise another_study(store, key, before.get(key), getattr(study, key))
    order = order_of(study, base)
    return order, ledger.due(order, *history.read(store), store.root, dt.datetime.now(dt.UTC))


def _evaluate(study: RegressionStudy, pair: Pair, options: RunOptions) -> Evaluated:
    output, store = options.output, Store(options.output)
    with _locked(store) as require_output, options.holding(store):
        study, records, damaged, look, known, note = _at_look(study, pair, store)
        before = records if known is None else records[: records.index(known)]
        segment = ledger.segment_of(study, pair, before)
        with rephrased(lambda text: f"{study.source}: {in_keys(text)}", BadInput):
            comparison, rows = _compare(study, pair, store, before, look.level, segment)
        record = known or _record(study, pair, comparison, look, segment)
        with file_errors(f"--output: {store.root}: cannot be written"):
            about = record.evaluation
            place = f"comparisons/{about.evaluation[:16]}"
            page = f"{store.root.rstrip('/')}/{place}.html"
            store.files.write(f"{place}.html", as_html(comparison, about.baseline, about.candidate).encode())
            store.files.write(f"{place}.json", f"{as_json(comparison, about.baseline, about.candidate)}\n".encode())
            if not known:
                history.keep(store, history.OF_ROWS, record.evaluation.held_out, rows)
                if study.looks.rows == "same" and (answers := answers_of(pair.by_score)) is not None:
                    history.keep(store, history.OF_ANSWERS, record.evaluation.evaluation, answers)
                require_output()
                history.append(store, record)
                records.append(record)
            # Not before what was made by it: reports show what is complete.
            store.write_json("study.json", {"study": study.model_dump(mode="json")})
            report = write_regression_report(store, study, records, damaged)
    notes = (*(f"left out: {line}" for line in damaged), *([note] if note else []))
    episodes = tuple(ledger.episodes_of(records))
    return Evaluated(study, record, comparison, not known, output, report, page, look, episodes, notes)


def _compare(
    study: RegressionStudy, pair: Pair, store: Store, before: Sequence[Record], level: float, segment: int
) -> tuple[ComparisonResult, pa.Table]:
    rule = study.rule_at(level)
    if study.looks.rows == "fresh":
        return compare_fresh(study, pair, store, before, rule, segment)
    if (bar := study.bar) is None:
        (result,) = compare_scores([pair.by_score], rule, study.measures, positive=study.positive)
    else:
        result = check_bar(study, pair.by_score[0], bar, rule)
    kept, notes = history.sharing(store, before, pair.rows), [*result.notes]
    last = kept[0][history.ROW].to_numpy() if kept else pair.rows
    if lost := len(np.setdiff1d(last, pair.rows)):
        new = len(np.setdiff1d(pair.rows, last))
        more = f", and {new:,} others are new" if new else "; a file may be incomplete"
        notes.append(Note("lost-rows", f"{lost:,} of {len(last):,} rows of the previous look are missing{more}"))
    if corrected := history.relabelled(kept, pair.rows, pair.labels):
        text = f"{count_of(corrected, 'row')} had another label at the previous look; a fault counts from this look on"
        notes.append(Note("labels", text))
    columns = [pa.array(pair.rows), pa.array(pair.labels)]
    return replace(result, notes=tuple(notes)), pa.table(columns, names=[history.ROW, history.LABEL])


def plan(study: RegressionStudy, options: RunOptions) -> str:
    """Return the work of an evaluation now, as text; nothing is written."""
    study, store = with_own_measures(study, options.allow), Store(options.output)
    order, (waiting, _, newest) = _candidates_due(study, options.base, store)
    pair = read_pair(order, waiting[0])
    study, records, _, look, known, note = _at_look(as_meant(study, pair), pair, store)
    slices = count_of(sum(len(names) for names, _ in pair.by_score[0].units.slices.values()), "slice")
    measures = measures_of(study, pair)
    return "\n".join(
        [
            f"candidate  {pair.candidate}" + (f", and {len(waiting) - 1} more after it" if len(waiting) > 1 else ""),
            *([f"newest     {newest}"] if newest else []),
            f"baseline   {pair.baseline}",
            f"rows       {pair.by_score[0].n:,}, {slices}, {count_of(len(measures), 'measure')}",
            f"history    {count_of(len(records), 'evaluation')} in {options.output}"
            + (", this comparison is one of them" if known else ""),
            f"look       {look.number} at {study.looks.rows_in_words}, {look}",
            f"promise    {study.looks.promise(study.alpha)}",
            *([f"note       {note}"] if note else []),
        ]
    )


class _AtLook(NamedTuple):
    """A study before a look: its settings with defaults, its history with the damaged files, and the look."""

    study: RegressionStudy
    records: list[Record]
    damaged: Sequence[str]
    look: Look
    #: The evaluation in the history that made the same comparison, if there is one.
    known: Record | None = None
    #: A note on the rule.
    note: str | None = None


def _at_look(study: RegressionStudy, pair: Pair, store: Store) -> _AtLook:
    """Return the look at a pair; refused if an earlier look at fresh rows is lost.

    If no earlier look shared the level, later ones do not either, unless the study states it.
    """
    records, damaged = history.read(store)
    if "spending" not in study.looks.model_fields_set:
        unshared = study.model_copy(update={"looks": study.looks.model_copy(update={"spending": "each"})})
        study = unshared if any(made_by(unshared, record) for record in records) else study
    identity, fresh, looks = identity_of(study, *pair.digests), study.looks.rows == "fresh", len(records) + len(damaged)
    lost = {*range(1, looks + 1)} - {record.evaluation.look for record in records}
    if fresh and lost:
        raise BadInput(
            f"--output: {store.root}: look {min(lost)} is lost, and later looks need it "
            f"({'; '.join(damaged) or 'no file'}); restore history/ as the looks wrote it, or choose another output"
        )
    for record in records:
        if record.evaluation.evaluation == identity:
            return _AtLook(study, records, damaged, Look(record.evaluation.look, record.evaluation.level, None), record)
    if records and fresh != ledger.is_fresh(records[-1]):
        raise BadInput(
            f"looks.rows: {study.looks.rows!r} is not valid after looks with {'same' if fresh else 'fresh'!r}; "
            "choose another output"
        )
    if fresh:
        changed = records and not made_by(study, records[-1])
        note = "the rules of the study changed: evidence and episodes begin again with this look" if changed else None
        length = study.looks.run_length
        look = Look(looks + 1, 1 / length if length else study.alpha, None)
    else:
        linked = history.linked(store, records, pair.held_out, pair.rows)
        look, note = ledger.next_look(study, linked, len(damaged)), ledger.note_on_promise(study, linked)
    return _AtLook(study, records, damaged, look, None, note)


def _record(study: RegressionStudy, pair: Pair, result: ComparisonResult, look: Look, segment: int) -> Record:
    identity = identity_of(study, *pair.digests)
    about = Evaluation(
        evaluation=identity,
        evaluated_at=dt.datetime.now(dt.UTC),
        baseline=pair.baseline,
        candidate=pair.candidate,
        baseline_digest=pair.digests[0],
        candidate_digest=pair.digests[1],
        # Fresh rows belong only to their look, even if the baseline's file is that of another look.
        held_out=identity if study.looks.rows == "fresh" else pair.held_out,
        look=look.number,
        level=look.level,
        verdict=result.verdict,
        reasons="\n".join(reasons(result)),
        spending=ledger.rule_of(study.looks),
        segment=segment,
        dated=pair.dated,
    )
    return Record(about, tuple(to_history(row) for row in result.rows))


@contextlib.contextmanager
def _locked(store: Store) -> Iterator[Callable[[], None]]:
    """Lock the output, so that each evaluation counts the looks of those before it.

    Yields a function that refuses an output that has disappeared, and calls it at the end.
    """
    deadline = time.monotonic() + _LOCK_TIMEOUT
    with contextlib.ExitStack() as held:
        while True:
            try:
                exists = held.enter_context(store.files.lock())
                break
            except Locked as other:
                if time.monotonic() > deadline:
                    raise BadInput(f"--output: {other}; wait for it to end, or choose another output") from None
                time.sleep(0.1)
            except OSError as error:
                raise BadInput(f"--output: {store.root}: cannot be written ({error.strerror or error})") from None

        def require_output() -> None:
            if not exists():
                raise BadInput(f"--output: {store.root}: was moved or removed meanwhile; expected it with its history")

        yield require_output
        require_output()
