"""Votes between models in a file: read, and written as text, JSON and Markdown."""

import json
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sigstats.ranking.votes import VoteRanking, rank_votes
from sigstats.tasks.predictions import Columns, read

from .words import best_of

#: The columns of a file of votes, as Chatbot Arena and MT-bench name them; the last may be three, of 1 and 0.
COLUMNS = ("model_a", "model_b", "winner")
_WINNERS = {"winner_model_a": "model_a", "winner_model_b": "model_b", "winner_tie": "tie"}
JSON_VERSION = 1


def ranked_votes(path: str, group: str | None, item: str | None, confidence_level: float) -> VoteRanking:
    """The ranking by the votes of a file; those of one `group` (voter), or on one `item`, are not independent.

    Raises ValueError, one line: as `sigstats.tasks.predictions.read` and `sigstats.rank_votes`.
    """
    first, second, winner = COLUMNS
    clusters = {name: column for name, column in (("groups", group), ("items", item)) if column is not None}
    columns = Columns(
        label=first,
        prediction=second,
        slices=tuple(dict.fromkeys((winner, *_WINNERS, *clusters.values()))),
        by_position=True,
        named=frozenset(("label", "prediction")),
    )
    votes = read(path, columns).decoded()
    given = {name: np.array(each.to_pylist()) for name, each in votes.others.items()}
    if winner not in given and given.keys() >= _WINNERS.keys():
        given[winner] = _of_three([given[name] for name in _WINNERS], votes.where)
    for name in (winner, *clusters.values()):
        if name not in given:
            raise ValueError(f"{votes.where}: column {name!r} is not there; expected {', '.join(COLUMNS)}")
    codes = {name: np.unique(given[column], return_inverse=True)[1] for name, column in clusters.items()}
    one, other = (np.array(each.to_pylist()) for each in (votes.label, votes.prediction))
    try:
        return rank_votes(one, other, given[winner], **codes, confidence_level=confidence_level)
    except ValueError as error:
        raise ValueError(f"{votes.where}: {error}") from None


def _of_three(columns: Sequence[NDArray[Any]], where: str) -> NDArray[Any]:
    """The winner by three columns of 1 and 0."""
    ones = np.array([np.isin(each, ["1", "1.0", "True", "true"]) for each in columns])
    if (ones.sum(axis=0) != 1).any():
        row = int(np.flatnonzero(ones.sum(axis=0) != 1)[0])
        raise ValueError(f"{where}: row {row + 1}: expected 1 in one of {', '.join(_WINNERS)}, and 0 in the others")
    winners: NDArray[Any] = np.array(list(_WINNERS.values()))[ones.argmax(axis=0)]
    return winners


def first_of(found: VoteRanking) -> list[str]:
    """The models to which none is shown to be preferred."""
    return [model for model, low in zip(found.models, found.low, strict=True) if low == 1]


def headline(found: VoteRanking) -> str:
    """Which model is best, or which may be; preferences of votes may go round."""
    first, k = first_of(found), len(found.models)
    return best_of(first, k) if first else f"None of the {k} models is best: to each another is preferred"


def as_json(found: VoteRanking, path: str) -> str:
    """All of it, under the names of the fields of `sigstats.results.VoteRanking`; null for scores not finite."""

    def plain(value: Any) -> Any:
        if isinstance(value, np.ndarray):
            return value.tolist()
        return [None if each != each else each for each in value] if isinstance(value, tuple) else value

    content = {each.name: plain(getattr(found, each.name)) for each in fields(found)}
    return json.dumps({"version": JSON_VERSION, "file": path, **content}, indent=2, allow_nan=False)
