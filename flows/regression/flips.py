"""How often the candidates' answers to an item flipped: right at one look, and wrong at the next that has the item."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sigstats.comparison.paired_predictions import PairedPredictions
from sigstats.tasks.storage import history
from sigstats.tasks.storage.history import Record
from sigstats.tasks.storage.store import Store

from ..comparison.changed import Changed, items_of
from ..pages.wording import count_of
from .trends import last_evaluations

_MODELS = ("baseline", "candidate")
_HEADER = ("id", "score", "looks", "right", "flips", "broken", "fixed")


def answers_of(pairs: Sequence[PairedPredictions]) -> pa.Table | None:
    """What is kept of a look: for each item 1 if a model was right, -1 if wrong, 0 if as often both; None of marks."""
    tables = []
    for pair in (each for each in pairs if each.predicted and not each.compared):
        if pair.items is None:
            ids, right = pair.ids, [1.0 * (codes == pair.label) for codes in (pair.a, pair.b)]
        else:
            _, ids, totals = items_of(pair)
            right = [*totals.means]
        score = pair.score_column if pair.graded else ""
        signs = (pa.array(np.sign(2 * each - 1).astype(np.int8)) for each in right)
        columns = ids, pa.repeat(score, len(ids)), *signs
        tables.append(pa.table(columns, names=["id", "score", *_MODELS]))
    return pa.concat_tables(tables) if tables else None


def flips_of(store: Store, records: Sequence[Record]) -> Changed | None:
    """The items that flipped in the last evaluations, those that flipped most first; None of fewer than two looks."""
    identities = (record.evaluation.evaluation for record in last_evaluations(records))
    kept = [each for one in identities if (each := history.read_kept(store, history.OF_ANSWERS, one)) is not None]
    if len(kept) < 2:
        return None
    answers = pa.concat_tables(kept)
    parts: list[Any] = [answers["score"], answers["id"], "\0"]
    names = pc.binary_join_element_wise(*parts).combine_chunks().dictionary_encode()
    codes, (baseline, candidate) = names.indices.to_numpy(), (answers[name].to_numpy() for name in _MODELS)
    order = np.argsort(codes, kind="stable")
    decided = order[candidate[order] != 0]
    turned = (np.diff(codes[decided]) == 0) & (np.diff(candidate[decided]) != 0)
    there = (np.ones(len(codes)), candidate > 0, candidate < baseline, candidate > baseline)
    looks, right, broken, fixed = (np.bincount(codes, each).astype(int) for each in there)
    flips = np.bincount(codes[decided][1:][turned], minlength=len(looks))
    most = np.argsort(-flips, kind="stable")[: np.count_nonzero(flips)].tolist()
    rows = []
    for item in most:
        score, _, name = names.dictionary[item].as_py().partition("\0")
        rows.append([name, score, *(str(each[item]) for each in (looks, right, flips, broken, fixed))])
    words = f"{count_of(len(rows), 'item')} flipped in {len(kept)} of {count_of(len(records), 'evaluation')}"
    return Changed(_HEADER, rows, words)
