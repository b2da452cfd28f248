"""Votes between models in a file: read, and written as text, JSON and Markdown."""

import json
from dataclasses import fields
from typing import Any

import numpy as np

from sigstats.ranking.votes import VoteRanking, rank_votes
from sigstats.tasks.predictions import Columns, read

#: The columns of a file of votes, as Chatbot Arena and MT-bench name them.
COLUMNS = ("model_a", "model_b", "winner")
JSON_VERSION = 1


def ranked_votes(path: str, group: str | None, confidence_level: float) -> VoteRanking:
    """The ranking by the votes of a file; the votes of one `group` (voter, question) are not independent.

    Raises ValueError, one line: as `sigstats.tasks.predictions.read` and `sigstats.rank_votes`.
    """
    first, second, winner = COLUMNS
    columns = Columns(
        label=first,
        prediction=second,
        slices=(winner, *(() if group is None else (group,))),
        by_position=True,
        named=frozenset(("label", "prediction")),
    )
    votes = read(path, columns).decoded()
    for name in (winner, *(() if group is None else (group,))):
        if name not in votes.others:
            raise ValueError(f"{votes.where}: column {name!r} is not there; expected {', '.join(COLUMNS)}")
    given = [np.array(each.to_pylist()) for each in (votes.label, votes.prediction, votes.others[winner])]
    groups = None if group is None else np.unique(votes.others[group].to_pylist(), return_inverse=True)[1]
    try:
        return rank_votes(*given, groups=groups, confidence_level=confidence_level)
    except ValueError as error:
        raise ValueError(f"{votes.where}: {error}") from None


def as_json(found: VoteRanking, path: str) -> str:
    """All of it, under the names of the fields of `sigstats.results.VoteRanking`; null for scores not finite."""

    def plain(value: Any) -> Any:
        if isinstance(value, np.ndarray):
            return value.tolist()
        return [None if each != each else each for each in value] if isinstance(value, tuple) else value

    content = {each.name: plain(getattr(found, each.name)) for each in fields(found)}
    return json.dumps({"version": JSON_VERSION, "file": path, **content}, indent=2, allow_nan=False)
