"""Evaluate a regression study: find the newest predictions, compare, append to the history, draw the trend."""

import contextlib
import datetime as dt
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from sigstats.comparison.answer import reasons
from sigstats.comparison.candidates import compare_scores
from sigstats.comparison.result import ComparisonResult
from sigstats.comparison.rule import ComparisonRule
from sigstats.sequential.alpha_spending import spent_level
from sigstats.tasks.storage import history
from sigstats.tasks.storage.files import Locked
from sigstats.tasks.storage.history import Evaluation, Record
from sigstats.tasks.storage.seal import Damaged
from sigstats.tasks.storage.store import Store

from ..comparison.for_programs import as_json
from ..comparison.markdown import as_markdown
from ..comparison.page import as_html
from ..errors import BadInput
from ..pages.wording import count_of, significant
from .fresh import compare_fresh, kept_row, refuse_changed
from .page import answers_of, write_regression_report
from .pair import Pair, identity_of, made_by, measures_of, read_pair, with_measures_meant
from .study import RegressionStudy, in_keys

#: Seconds to wait for other evaluations of the same history; each takes a few.
_LOCK_TIMEOUT = 600.0


@dataclass(frozen=True)
class Evaluated:
    """A regression study that was evaluated."""

    record: Record
    comparison: ComparisonResult
    #: False if the history already contained this comparison.
    appended: bool
    #: The folder or the URL of the history.
    output: str
    #: The locations of the report of the history and of the page of this comparison.
    report: str
    page: str
    #: A line for each file of the history that cannot be used.
    damaged: tuple[str, ...]

    @property
    def markdown(self) -> str:
        """The comparison as Markdown for Prefect, which draws no chart of Mermaid."""
        about = self.record.evaluation
        return as_markdown(self.comparison, about.baseline, about.candidate, picture=False)


def evaluate(study: RegressionStudy, *, base: Path, output: str) -> Evaluated:
    """Compare the newest predictions, and append what is found to the history in `output`."""
    study, pair, store = _opened(study, base, output)
    with _locked(store) as require_there:
        records, damaged = history.read(store)
        look, known = _look(study, pair, store, records, damaged)
        rule = study.rule_at(_level(study, look, pair))
        before = records if known is None else records[: records.index(known)]
        try:
            found, rows = _compared(study, pair, store, before, rule)
        except ValueError as error:
            raise BadInput(f"{study.source}: {in_keys(str(error))}") from None
        record = known or _record(study, pair, found, look, rule)
        rules = {"study": study.model_dump(mode="json")}
        try:
            if not records:  # of which none is a look without its rules
                store.write_json("study.json", rules)
            page = _write_comparison(store, record, found)
            if not known:
                history.keep(store, history.OF_ROWS, record.evaluation.held_out, rows)
                if study.looks.rows == "same" and (answers := answers_of(pair.by_score)) is not None:
                    history.keep(store, history.OF_ANSWERS, record.evaluation.evaluation, answers)
                require_there()
                history.append(store, record)
                records.append(record)
            store.write_json("study.json", rules)  # not before what was made by them: reports show what is complete
            report = write_regression_report(store, study, records, damaged)
        except OSError as error:
            raise BadInput(f"--output: {output}: cannot be written ({error.strerror or error})") from None
    return Evaluated(record, found, not known, output, report, page, tuple(damaged))


def _opened(study: RegressionStudy, base: Path, output: str) -> tuple[RegressionStudy, Pair, Store]:
    pair, store = read_pair(study, base), Store(output)
    study = with_measures_meant(study, pair)
    _refuse_another(store, study)
    return study, pair, store


def _compared(
    study: RegressionStudy, pair: Pair, store: Store, before: Sequence[Record], rule: ComparisonRule
) -> tuple[ComparisonResult, pa.Table]:
    if study.looks.rows == "fresh":
        return compare_fresh(study, pair, store, before, rule)
    (found,) = compare_scores([pair.by_score], rule, study.measures, positive=study.positive)
    return found, pa.table({history.ROW: pa.array(pair.rows)})


def _write_comparison(store: Store, record: Record, found: ComparisonResult) -> str:
    about = record.evaluation
    place = f"comparisons/{about.evaluation[:16]}"
    store.files.write(f"{place}.html", as_html(found, about.baseline, about.candidate).encode())
    store.files.write(f"{place}.json", (as_json(found, about.baseline, about.candidate) + "\n").encode())
    return f"{store.root.rstrip('/')}/{place}.html"


def plan(study: RegressionStudy, *, base: Path, output: str) -> str:
    """What an evaluation would compare now, as text; nothing is written."""
    study, pair, store = _opened(study, base, output)
    records, damaged = history.read(store)
    look, known = _look(study, pair, store, records, damaged)
    level = _level(study, look, pair)
    slices = count_of(sum(len(names) for names, _ in pair.by_score[0].slices.values()), "slice")
    measures = measures_of(study, pair)
    return "\n".join(
        [
            f"candidate  {pair.candidate}",
            f"baseline   {pair.baseline}",
            f"rows       {pair.by_score[0].n:,}, {slices}, {count_of(len(measures), 'measure')}",
            f"history    {count_of(len(records), 'evaluation')} in {output}"
            + (", this comparison is one of them" if known else ""),
            f"look       {look} at {study.looks.rows_in_words}, level {significant(level, 3)}",
        ]
    )


def report_again(store: Store) -> str:
    """Write the report of the history anew; return its location.

    Raises FileNotFoundError if there is no history. Raises sigstats.tasks.storage.seal.Damaged if the history cannot
    be used.
    """
    try:
        study = RegressionStudy.model_validate(store.read_json("study.json")["study"], strict=False)
    except (KeyError, ValueError):
        raise Damaged("study.json is not that of a regression study") from None
    records, damaged = history.read(store)
    if not records:
        raise FileNotFoundError(f"{store.root}/history has no evaluation")
    if not any(made_by(study, record) for record in records):
        raise Damaged("study.json was altered: no evaluation of history/ was made by its rules")
    return write_regression_report(store, study, records, damaged)


def _look(
    study: RegressionStudy, pair: Pair, store: Store, records: Sequence[Record], damaged: Sequence[str]
) -> tuple[int, Record | None]:
    """The number of this look, and the evaluation in the history that made the same comparison, if there is one.

    Rules that looks at fresh rows do not share are refused, and looks at them of which one is lost.
    """
    identity, fresh, looks = identity_of(study, pair), study.looks.rows == "fresh", len(records) + len(damaged)
    lost = {*range(1, looks + 1)} - {record.evaluation.look for record in records}
    if fresh and lost:
        raise BadInput(
            f"--output: {store.root}: look {min(lost)} is lost, on which those after it rest "
            f"({'; '.join(damaged) or 'no file'}); expected history/ as the looks wrote it, or another output"
        )
    for record in records:
        if record.evaluation.evaluation == identity:
            return record.evaluation.look, record
    if fresh or any(record.evaluation.held_out == record.evaluation.evaluation for record in records):
        refuse_changed(store, study, records, looks)
    if fresh:
        return looks + 1, None
    return history.look_of(store, records, pair.held_out, pair.rows, unreadable=len(damaged)), None


def _level(study: RegressionStudy, look: int, pair: Pair) -> float:
    level = spent_level(look, alpha=study.alpha, spending=study.looks.spending, looks=study.looks.planned)
    if level <= 0:
        raise BadInput(
            f"looks.planned: {study.looks.planned} looks at these rows are spent, {pair.candidate.name} would be look "
            f"{look}; expected fresh rows"
        )
    return level


def _record(study: RegressionStudy, pair: Pair, found: ComparisonResult, look: int, rule: ComparisonRule) -> Record:
    identity = identity_of(study, pair)
    about = Evaluation(
        evaluation=identity,
        evaluated_at=dt.datetime.now(dt.UTC),
        baseline=str(pair.baseline),
        candidate=str(pair.candidate),
        baseline_digest=pair.digests[0],
        candidate_digest=pair.digests[1],
        # Fresh rows are those of their look alone, also where the baseline's file is that of another look.
        held_out=identity if study.looks.rows == "fresh" else pair.held_out,
        look=look,
        level=rule.alpha,
        verdict=found.verdict,
        reasons="\n".join(reasons(found)),
        dated=pair.dated,
    )
    return Record(about, tuple(kept_row(row) for row in found.rows))


def _refuse_another(store: Store, study: RegressionStudy) -> None:
    """Refuse the output of another study; a study of the same files under another name is the same."""
    try:
        before = store.read_json("study.json").get("study")
    except (FileNotFoundError, Damaged):
        return
    except OSError as error:
        raise BadInput(f"--output: {store.root}: study.json in it cannot be read ({error.strerror or error})") from None
    before = before if isinstance(before, dict) else {}
    renamed = any(before.get(key) == getattr(study, key) for key in ("baseline", "candidate"))
    for key in ("kind",) if renamed else ("kind", "name"):
        if before.get(key) != getattr(study, key):
            raise BadInput(
                f"--output: {store.root} holds another study: {key} is {before.get(key)!r} there and "
                f"{getattr(study, key)!r} here; choose another output"
            )


@contextlib.contextmanager
def _locked(store: Store) -> Iterator[Callable[[], None]]:
    """Lock the output, so that each evaluation counts the looks of those before it.

    Yields what refuses an output that is no longer there, as it is at the end too.
    """
    deadline = time.monotonic() + _LOCK_TIMEOUT
    with contextlib.ExitStack() as held:
        while True:
            try:
                there = held.enter_context(store.files.lock())
                break
            except Locked as other:
                if time.monotonic() > deadline:
                    raise BadInput(f"--output: {other}; wait for it to end, or choose another output") from None
                time.sleep(0.1)
            except OSError as error:
                raise BadInput(f"--output: {store.root}: cannot be written ({error.strerror or error})") from None

        def require_there() -> None:
            if not there():
                raise BadInput(f"--output: {store.root}: was moved or removed meanwhile; expected it with its history")

        yield require_there
        require_there()
