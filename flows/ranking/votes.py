"""Rankings by votes between models: read a file of votes, rank its models, and write JSON and a page."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from sigstats._common.class_spelling import DistinctNames
from sigstats._common.column_names import ID
from sigstats._common.messages import Note, did_you_mean, notes_as_objects, rephrased, some_of
from sigstats._common.numerals import both_ends, count_of, number, p_equation, p_number, percent, significant
from sigstats._common.repeats import check_sides, copied_rows, joint_codes
from sigstats._common.validation import FloatArray, IntArray
from sigstats.comparison.answer import in_doubt
from sigstats.comparison.notes import clusters
from sigstats.comparison.paired_predictions import OtherColumns
from sigstats.comparison.units import MISSING
from sigstats.files.predictions import Columns, Predictions, may_count, other_column_codes, read
from sigstats.intervals import Interval
from sigstats.ranking.result import RankedModel
from sigstats.ranking.vote_models import MATTERS, UNKNOWN
from sigstats.ranking.votes import VoteRanking, coded_votes, rank_votes

from ..pages.page import Answer, page
from .page import MOST_IN_MATRIX, MOST_PAIRS, pair_matrix, rank_plot
from .words import best_of, ranks_of

#: The columns of a file of votes, as Chatbot Arena and MT-bench name them.
COLUMNS = ("model_a", "model_b", "winner")
#: The sign of a vote by the value of `winner`, and the columns of 1 and 0 that may replace `winner`, by name.
_SIGNS = {"model_a": 1, "model_b": -1, "tie": 0}
_WINNERS = {f"winner_{value}": value for value in _SIGNS} | {"winner_tie (bothbad)": "tie"}
_ONES, _ZEROS = ("1", "1.0", "true"), ("0", "0.0", "false")
JSON_VERSION = 1


class NotVotes(Exception):
    """A file without two models in each row."""


@dataclass(frozen=True)
class _Votes:
    """A file of votes: the two models and the winner of each row, and the votes that depend on each other."""

    file: Predictions
    #: The texts of the three `COLUMNS`.
    columns: tuple[NDArray[Any], NDArray[Any], NDArray[Any]]
    #: The codes of voters (``groups``) and of questions (``items``), as arguments of `rank_votes`; only those named.
    clusters: dict[str, Any]

    @cached_property
    def codes(self) -> list[IntArray]:
        """The `columns` as codes, each column by itself."""
        return [np.unique(column, return_inverse=True)[1] for column in self.columns]


def ranked_votes(path: str, group: str | None, item: str | None, confidence_level: float) -> VoteRanking:
    """Return the ranking by the votes of a file.

    Votes of one voter (column `group`), or on one question (column `item`), are dependent. Raises NotVotes if the file
    cannot be read as votes, and ValueError, one line, as `sigstats.rank_votes` does.
    """
    votes = _read_votes(path, group, item)
    where = votes.file.where
    rank = partial(rank_votes, *votes.columns, confidence_level=confidence_level)
    with rephrased(f"{where}: "):
        ranking = rank(**votes.clusters)
        _, coded = coded_votes(*votes.columns)  # both models and the sign of each vote
        _check_winner(coded[:, 2], votes.file.requested)
        others = OtherColumns() if votes.clusters else other_column_codes(votes.file, votes.file)
        if others.content is not None:
            check_sides(coded, others.content)

    def pairs_decided(groups: IntArray, _: str) -> tuple[str, str]:
        return f"{count_of(int(rank(groups=groups).preferred.sum()), 'pair')} decided", ""

    notes = [*ranking.notes, *DistinctNames(ranking.models, len(coded), where, "model").notes]
    notes += _notes_on_copies(votes, others, ranking, f"the {group}, the {item}")
    notes += clusters(_less_pair_means(coded), others, classes=2, seed=0, in_groups=pairs_decided)
    return replace(ranking, notes=tuple(notes))


def _read_votes(path: str, group: str | None, item: str | None) -> _Votes:
    """Read the columns of a file; the two models are read as if they were labels and predictions."""
    first, second, winner = COLUMNS
    named = {key: column for key, column in (("groups", group), ("items", item)) if column is not None}
    columns = Columns().but(
        label=first,
        prediction=second,
        slices=tuple(dict.fromkeys((winner, *_WINNERS, *named.values()))),
        by_position=True,
        duplicates="all",
        named=frozenset(("label", "prediction")),
    )
    with rephrased("", NotVotes):
        file = read(path, columns).decoded()
    texts = {name: np.array(column.to_pylist()) for name, column in file.requested.items()}
    if winner not in texts and texts.keys() >= {"winner_model_a", "winner_model_b"}:
        texts[winner] = _winner_of_several({name: texts[name] for name in _WINNERS if name in texts}, file.where)
    for name in (winner, *named.values()):
        if name not in texts:
            wanted = ", ".join(COLUMNS) if name == winner else "a column of the file"
            near = did_you_mean(name, file.source.names)
            raise ValueError(f"{file.where}: column {name!r} was not found; expected {wanted}{near}")
        if (texts[name] == MISSING).any():
            raise ValueError(f"{file.where}: column {name!r} is empty in a row; expected a value")
    a, b = (np.array(column.to_pylist()) for column in (file.outcomes.label, file.outcomes.prediction))
    codes = {key: np.unique(texts[column], return_inverse=True)[1] for key, column in named.items()}
    votes = _Votes(file, (a, b, texts[winner]), codes)
    if not named and (counts := _column_of_counts(file.other_columns, votes.codes)):
        remedy = f"repeat it, as frame.loc[frame.index.repeat(frame[{counts!r}])] does"
        raise ValueError(f"{file.where}: {counts!r} seems to count votes, but a line is read as one vote; {remedy}")
    return votes


def _notes_on_copies(votes: _Votes, others: OtherColumns, ranking: VoteRanking, named: str) -> Iterator[Note]:
    """Yield notes on votes that may be copies: equal in all columns, or of one voter, question and pair of models.

    `named`: the names of the columns of voters and questions.
    """
    n, rows = len(votes.codes[0]), votes.codes
    if others.content is not None and (copies := copied_rows(others.content, rows)) is not None:
        text = f"{np.count_nonzero(copies):,} of {n:,} votes equal others in all columns and may be copies"
        once = rank_votes(*(column[~copies] for column in votes.columns), confidence_level=ranking.confidence_level)
        doubt = "" if headline(once) == headline(ranking) else "not without the votes that may be copies"
        yield Note("duplicates", f"{text}; remove them, or add --group VOTER", doubt)
    if len(votes.clusters) > 1:
        distinct = 1 + int(joint_codes([*votes.clusters.values(), *rows[:2]]).max())
        if repeated := n - distinct:
            text = f"{repeated:,} of {n:,} votes share {named} and both models with another"
            yield Note("duplicates", f"{text}; remove them if they are copies")


def _column_of_counts(columns: Mapping[str, Any], rows: Sequence[NDArray[Any]]) -> str | None:
    """Return the column of counts if no lines agree in models and winner, which is unlikely by chance."""
    pairs, winners = np.bincount(joint_codes(rows[:2])).tolist(), int(rows[2].max()) + 1
    by_chance = math.prod(math.perm(winners, n) / winners**n for n in pairs)  # if all winners are equally likely
    if len(np.unique(joint_codes(rows))) < len(rows[0]) or by_chance > 0.02:
        return None
    counts = (name for name, column in columns.items() if may_count(column) and len(column.dictionary) > 2)
    return next((name for name in counts if not ID.search(name)), None)


def _less_pair_means(votes: IntArray) -> FloatArray:
    """Return votes less the mean of their pair: 1 for the first model by name, -1 for the second, 0 for neither."""
    first, second, signs = votes.T
    signs = np.where(first < second, 1, -1) * signs
    pair = joint_codes([np.minimum(first, second), np.maximum(first, second)])
    return np.asarray(signs - (np.bincount(pair, signs) / np.bincount(pair))[pair])


def _winner_of_several(columns: Mapping[str, NDArray[Any]], where: str) -> NDArray[Any]:
    """Return the values of the column `winner` from columns of 1 and 0."""
    texts = np.char.lower([*columns.values()])
    ones, zeros = np.isin(texts, _ONES), np.isin(texts, _ZEROS)
    odd = np.flatnonzero((ones.sum(axis=0) != 1) | (ones == zeros).any(axis=0))
    if len(odd):
        wanted = f"expected 1 in one of {', '.join(columns)}, and 0 in the others"
        raise ValueError(f"{where}: row {int(odd[0]) + 1}: {wanted}")
    return np.asarray(np.array([_WINNERS[name] for name in columns])[ones.argmax(axis=0)])


def _check_winner(signs: IntArray, columns: Mapping[str, Any]) -> None:
    """Refuse columns of 1 and 0 that contradict the column `winner`. `signs`: those of the votes in that column."""
    for name in [name for name in _WINNERS if name in columns]:
        sign = _SIGNS[_WINNERS[name]]
        won, texts = signs == sign, np.char.lower(columns[name].to_pylist())
        differ = (np.isin(texts, _ONES) & ~won) | (np.isin(texts, _ZEROS) & won & (sign != 0))  # two kinds of ties
        if differ.any():
            raise ValueError(f"row {differ.argmax() + 1}: 'winner' and {name!r} differ; correct or remove one column")


def first_of(ranking: VoteRanking) -> list[str]:
    """Return the models to which no other is shown to be preferred."""
    return [model for model, low in zip(ranking.models, ranking.low, strict=True) if low == 1]


def headline(ranking: VoteRanking) -> str:
    """Return the best model, or the possible ones; preferences of votes may be cyclic."""
    first, k, note_names = first_of(ranking), len(ranking.models), {note.name for note in ranking.notes}
    best = best_of(first, k) if first else f"None of the {k} models is best: another is preferred to each"
    if len(first) == 1 and ranking.high[ranking.models.index(first[0])] > 1:
        best = f"Only {first[0]} may be the best of {k} models"
    if MATTERS in note_names:
        return f"Undecided: {best}, or the positions of the answers decided the votes"
    condition = " if voters saw the answers in random order" if UNKNOWN in note_names else ""
    return best + condition + in_doubt(ranking.notes)


def as_json(ranking: VoteRanking, path: str) -> str:
    """Return all results, under the names of the fields of `sigstats.results.VoteRanking`; null for infinite scores."""

    def plain(value: Any) -> Any:
        if isinstance(value, tuple):
            return [None if item != item else item for item in value]  # NaN differs from itself
        return value.tolist() if isinstance(value, np.ndarray) else value

    content = {field.name: plain(getattr(ranking, field.name)) for field in fields(ranking)}
    content["notes"] = notes_as_objects(ranking.notes)
    return json.dumps({"version": JSON_VERSION, "file": path, **content}, indent=2, allow_nan=False)


def as_html(ranking: VoteRanking) -> str:
    """Return the page: the best model, the rank sets, the scores, and all pairs that met."""
    met = np.argwhere(np.triu(ranking.wins + ranking.wins.T, 1) > 0)
    answer, models, confidence = _answer(ranking, len(met)), _models(ranking), _confidence(ranking)
    pairs = [_pair(ranking, *value) for value in met.tolist()] if len(met) <= MOST_PAIRS else []
    rows = [
        (ranks_of(model), model.model, percent(share, ranking.n), *_score(model))
        for model, share in zip(models, _won(ranking), strict=True)
    ]
    return page(
        "tables.html.j2",
        kind="ranking by votes",
        answer=answer,
        tables=[
            ("Models", ("rank", "model", "votes won", "score", f"its {confidence} interval"), rows),
            ("Pairs that met", ("A", "B", "votes", "A won", "B won", "p", "adjusted p", "preferred"), pairs),
        ],
        matrix=_matrix(ranking) if len(models) <= MOST_IN_MATRIX else "",
        about="Basis of the numbers",
        basis=[
            f"{count_of(ranking.n, 'vote')} between two of {len(models)} models at a time; a tie is half a vote won",
            f"Guarantee: {ranking.guarantee}",
            f"With {confidence} confidence, all ranks are correct (sign tests of all pairs, Holm's adjustment)",
            "Scores are Bradley and Terry's, 400 points for odds of ten to one; the intervals are not simultaneous",
            *([f"{len(met):,} pairs are too many for a page; --json has them all"] if not pairs else []),
        ],
    )


def _answer(ranking: VoteRanking, pairs: int) -> Answer:
    """Return the first screen; `pairs`: the number of pairs that met."""
    models, first, confidence = _models(ranking), first_of(ranking), _confidence(ranking)
    shown = int(ranking.preferred.sum())
    known = [("Pairs:", f"{shown:,} of {count_of(pairs, 'pair')} that met {'is' if shown == 1 else 'are'} decided.")]
    behind = [name for name in ranking.models if name not in first]
    known += [("Behind:", f"{some_of(behind)}; at least one model is preferred to each.")] if behind else []
    known += [("Beware:", f"{note}.") for note in (*ranking.notes, ranking.reason) if note]
    if not ranking.reason and ranking.fit_pvalue is not None and ranking.fit_pvalue <= 1 - ranking.confidence_level:
        fit = f"one score per model is not enough to explain who wins against whom ({p_equation(ranking.fit_pvalue)})"
        known.append(("Beware:", f"{fit}; the ranks do not depend on it."))
    to_do = "Choose among the first by other criteria, or collect more votes on them."
    if len(first) < 2 and not in_doubt(ranking.notes):
        to_do = f"Take {first[0]}." if first else "Choose by a question on which preferences are not cyclic."
    if {MATTERS, UNKNOWN} & {note.name for note in ranking.notes}:
        to_do = f"Ask again, with the answers in random order. If they were already: {to_do}"
    places = zip(("first", "second"), models, _won(ranking), strict=False)
    return Answer(
        headline=headline(ranking),
        numbers=[
            ("votes", f"{ranking.n:,}", f"{len(models)} models"),
            *((f"{place} by votes won", percent(share), model.model) for place, model, share in places),
        ],
        shown=known,
        to_do=to_do,
        figure=rank_plot(models),
        caption=(
            "The ranks that each model may have: all lines contain the true ranks together with confidence "
            f"{confidence}. Points: places by votes won. Thin lines: models to which another is preferred."
        ),
    )


def _won(ranking: VoteRanking) -> NDArray[np.float64]:
    return np.asarray(ranking.wins.sum(axis=1) / (ranking.wins + ranking.wins.T).sum(axis=1))


def _models(ranking: VoteRanking) -> list[RankedModel]:
    """Return the models in the form of a leaderboard; in tier 1 if none is shown to be preferred to them."""
    return [
        RankedModel(
            model=model,
            rank_low=ranking.low[place],
            rank_high=ranking.high[place],
            tier=1 if ranking.low[place] == 1 else 2,
            score=ranking.scores[place],
            accuracy=None,
            confidence_interval=Interval(ranking.score_low[place], ranking.score_high[place], ranking.confidence_level),
        )
        for place, model in enumerate(ranking.models)
    ]


def _confidence(ranking: VoteRanking) -> str:
    return f"{significant(100 * ranking.confidence_level)}%"


def _score(model: RankedModel) -> tuple[str, str]:
    if math.isnan(model.score):
        return "–", "–"
    low, high = model.confidence_interval
    return number(model.score, 0), " to ".join(both_ends(low, high, number, 0))


def _pair(ranking: VoteRanking, a: int, b: int) -> tuple[str, ...]:
    won, lost = ranking.wins[a, b], ranking.wins[b, a]
    ahead = (a, b) if won >= lost else (b, a)
    shown = ranking.models[ahead[0]] if ranking.preferred[ahead] else "not shown"
    counts = (f"{won + lost:,.0f}", f"{won:,g}", f"{lost:,g}")
    p = p_number(float(ranking.pvalues[ahead])), p_number(float(ranking.adjusted_pvalues[ahead]))
    return (ranking.models[a], ranking.models[b], *counts, *p, shown)


def _matrix(ranking: VoteRanking) -> Markup:
    place = {name: index for index, name in enumerate(ranking.models)}

    def entry(left: str, above: str) -> tuple[float, str, bool] | str:
        pair = place[left], place[above]
        won, lost = ranking.wins[pair], ranking.wins[pair[::-1]]
        if not won + lost:
            return f"{left} and {above} never met"
        return float(ranking.adjusted_pvalues[pair]), percent(won / (won + lost)), bool(ranking.preferred[pair])

    return pair_matrix("preferred to", ranking.models, entry)
