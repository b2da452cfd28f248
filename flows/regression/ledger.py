"""The ledger of a regression study: the level spent on looks, the faults, the candidates due, and the alerts delivered.

Everything is read from the history of the output, so that no rule depends on the memory of a run.
"""

import datetime as dt
import re
from collections.abc import Sequence
from dataclasses import dataclass
from operator import eq
from pathlib import Path
from typing import NamedTuple

from sigstats._common.messages import some_of
from sigstats._common.numerals import count_of, significant
from sigstats.multiplicity import spent_level
from sigstats.tasks.storage.history import Evaluation, Record
from sigstats.tasks.storage.seal import Damaged
from sigstats.tasks.storage.store import Store

from ..errors import BadInput
from .order import Order, changed_at, digest_of_file, name_of
from .pair import Pair, made_by
from .study import Looks, RegressionStudy


@dataclass(frozen=True)
class Look:
    """A look at rows: its number, its level, and the level left by earlier looks."""

    number: int
    level: float
    #: Remaining level before this look; None if looks share none.
    left: float | None

    def __str__(self) -> str:
        left = "" if self.left is None else f", of {significant(self.left, 3)} left"
        return f"level {significant(self.level, 3)}{left}"


def next_look(study: RegressionStudy, linked: Sequence[Record], unreadable: int) -> Look:
    """Return the next look at the rows of the looks in `linked`; `unreadable` evaluations may have looked at them too.

    Its level is that of the study's rule, or the level left by earlier looks (under any rule) if that is less: the
    levels of all looks add up to at most `alpha` for each set of rows that began separately. A lost look counts with
    the level that the rule gives it.

    Raises BadInput if nothing is left.
    """
    numbers = {record.evaluation.look for record in linked}
    last = max(numbers, default=0)
    number = last + 1 + max(0, unreadable - (last - len(numbers)))
    level = _level(study, number)
    if study.looks.spending == "each":
        return Look(number, level, None)
    lost = [_level(study, look) for look in range(1, number) if look not in numbers]
    apart = max(1, sum(record.evaluation.look == 1 for record in linked))
    left = apart * study.alpha - sum(record.evaluation.level for record in linked) - sum(lost)
    if level <= 0 or left <= 1e-9 * study.alpha:
        before = count_of(number - 1, "look")
        keep = ", or keep 'each'" if {*_rules(linked)} == {"each"} else ""
        raise BadInput(
            f"looks.{'planned' if study.looks.planned else 'spending'}: {before} at these rows are used, and no "
            f"level is left for look {number}; use fresh rows{keep}"
        )
    return Look(number, level if left > level * (1 - 1e-9) else left, left)


def rule_of(looks: Looks) -> str:
    """Return the rule by which looks share the level, in the form of the history."""
    return looks.spending if looks.planned is None else f"{looks.spending} of {looks.planned}"


def _rules(linked: Sequence[Record]) -> list[str]:
    return [*dict.fromkeys(rule for record in linked if (rule := record.evaluation.spending) is not None)]


def note_on_promise(study: RegressionStudy, linked: Sequence[Record]) -> str | None:
    """Return a note if earlier looks shared the level by another rule, or if linked test sets began separately."""
    now, notes = rule_of(study.looks), []
    if before := [rule for rule in _rules(linked) if rule != now]:
        promise = "the looks share no level" if study.looks.spending == "each" else "at most the level left is used"
        notes.append(f"the rule of looks changed from {' and '.join(before)} to {now}: {promise}")
    if (apart := sum(record.evaluation.look == 1 for record in linked)) > 1 and study.looks.spending != "each":
        notes.append(f"these rows link {apart} test sets that began separately, each with the whole level")
    return "; ".join(notes) or None


class Episode(NamedTuple):
    """A fault: the evaluation that failed first, and the one that ended it, by a repair or by a change of the study."""

    alarm: Record
    end: Record | None = None
    repaired: bool = True


def is_fresh(record: Record) -> bool:
    """Return True for a look at fresh rows, which no other look has."""
    return record.evaluation.held_out == record.evaluation.evaluation


def segment_of(study: RegressionStudy, pair: Pair, records: Sequence[Record]) -> int:
    """Return the number of the first evaluation with the present rules; that of this one if they are new.

    A segment also begins, for fresh rows, after an evaluation that found a fault repaired; for the same rows, with
    another file of the baseline, other ids or other labels.
    """
    last = records[-1] if records else None
    if last is None or not made_by(study, last):
        return len(records) + 1
    changed = (last.evaluation.baseline_digest, last.evaluation.held_out) != (pair.digests[0], pair.held_out)
    repaired = any(episode.end is last for episode in episodes_of(records))
    return len(records) + 1 if (repaired if is_fresh(last) else changed) else last.evaluation.segment or 1


def episodes_of(records: Sequence[Record]) -> list[Episode]:
    """Return the faults in the order of time.

    A fault ends with the first evaluation that passes; of fresh rows, which fail until a repair is shown, with the
    first that does not fail.
    """
    episodes: list[Episode] = []
    for number, record in enumerate(records):
        about = record.evaluation
        if episodes and episodes[-1].end is None:
            changed = about.segment != records[number - 1].evaluation.segment
            if changed or about.verdict == "pass" or (is_fresh(record) and about.verdict != "fail"):
                episodes[-1] = Episode(episodes[-1].alarm, record, not changed)
        if about.verdict == "fail" and (not episodes or episodes[-1].end is not None):
            episodes.append(Episode(record))
    return episodes


def _level(study: RegressionStudy, look: int) -> float:
    return spent_level(look, alpha=study.alpha, spending=study.looks.spending, looks=study.looks.planned)


class Due(NamedTuple):
    """The candidates to evaluate, the newest last."""

    candidates: Sequence[str]
    #: One line per reason for leaving out candidates.
    notes: Sequence[str]
    #: The newest candidate, the number of matches and their order, in words; empty if it is the only match.
    newest: str


#: Dates, numbers and hashes of commits, which differ between the folders of one study.
_DIGITS = re.compile("(?<![0-9a-f])[a-f]*+[0-9][0-9a-f]*+")
#: At most this many of the newest candidates are checked for files that came late or were replaced.
_RECENT = 40


def due(order: Order, records: Sequence[Record], damaged: Sequence[str], output: str, now: dt.datetime) -> Due:
    """Return the candidates added since the last evaluation, at least the newest, and notes on those left out.

    A file with the content of an evaluated candidate is that candidate under another name. It is due only if it is the
    newest, and the history then has its comparison already. If evaluations of the history are `damaged`, any candidate
    may have been evaluated, so only the newest is due.

    Raises BadInput if the `output` has the looks of another study; if a candidate that was never evaluated is later
    than the newest by its date, or changed since the last evaluation, and the study does not state the order of
    candidates; and if the newest is too old.
    """
    seen = {record.evaluation.candidate: record.evaluation.evaluated_at for record in records}
    ranked = order.candidates(seen)
    if records and not _continues(order, ranked, [record.evaluation for record in records]):
        files = f"the looks of another study, such as that at {records[-1].evaluation.candidate}"
        raise BadInput(f"--output: {output} contains {files}; choose another output")
    newest = ranked[-1]
    order.require_recent(newest, now)
    known = {record.evaluation.candidate_digest for record in records}

    def is_new(path: str) -> bool:
        return digest_of_file(path) not in known

    def is_replaced(path: str) -> bool:
        changed = changed_at(path)
        return (changed is None or changed > seen[path]) and is_new(path)

    positions = [position for position, path in enumerate(ranked) if path in seen]
    first, last = (positions[0], positions[-1]) if positions else (len(ranked), len(ranked) - 1)
    waiting = [*(() if damaged else filter(is_new, ranked[last + 1 : -1])), newest]
    recent = max(0, len(ranked) - _RECENT)
    late = [path for path in ranked[max(first, recent) : last] if path not in seen and is_new(path)]
    replaced = [path for path in ranked[recent:-1] if path in seen and is_replaced(path)]
    if "by" not in order.study.newest.model_fields_set:
        since = max((record.evaluation.evaluated_at for record in records), default=None)
        later = [path for path in ranked[:last] if path not in seen and order.may_be_later(path, newest, since)]
        if later:
            names = some_of([name_of(path) for path in later])
            raise BadInput(
                f"{order.study.source}: newest: {count_of(len(later), 'match', 'matches')} of the candidate never "
                f"evaluated may be later than {name_of(newest)}, the last by name: {names}; "
                'state the order of candidates, by = "time" (the date in the name), "column" or "name"'
            )
    left = (("never evaluated, although later ones were", late), ("replaced after they were evaluated", replaced))
    by = {"name": "name", "time": "the time in the name"}.get(
        order.study.newest.by, f"column {order.study.newest.column}"
    )
    words = f"{name_of(newest)}, of {len(ranked):,} matches by {by}" if len(ranked) > 1 else ""
    return Due(waiting, [f"{reason}: {some_of(paths)}" for reason, paths in left if paths], words)


def _continues(order: Order, candidates: Sequence[str], looks: Sequence[Evaluation]) -> bool:
    """Return True if a candidate of the looks was in a folder of the present files, or equals one of them.

    One folder may be written in two ways, such as ``chat/p`` and ``p``; each night may have its own, as ``p/0412``.
    """
    before = {_folder(look.candidate) for look in looks}
    if any(all(map(eq, folder, other)) for folder in {*map(_folder, candidates)} for other in before):
        return True
    known = {digest for look in looks for digest in (look.baseline_digest, look.candidate_digest)}
    files = [*candidates, *(() if order.study.bar is not None else order.matches("baseline"))]
    return any(digest_of_file(path) in known for path in files)


def _folder(path: str) -> tuple[str, ...]:
    """Return the folders of a file, the innermost first, all with the same numbers."""
    return Path(_DIGITS.sub("0", path)).parent.parts[::-1]


_ALERTS = "alerts"


def delivered(store: Store, evaluation: str) -> bool:
    """Return True if a server received the alert of an evaluation."""
    try:
        return bool(store.read_json(f"{_ALERTS}/{evaluation[:16]}.json")["delivered_at"])
    except (FileNotFoundError, Damaged, KeyError, TypeError):
        return False


def keep_delivered(store: Store, evaluation: str) -> None:
    """Record that a server received the alert of an evaluation."""
    store.write_json(f"{_ALERTS}/{evaluation[:16]}.json", {"delivered_at": dt.datetime.now(dt.UTC).isoformat()})
