"""Predictions that two or more models made for the same rows: read from files, joined by id."""

from ._agreement import same_content
from ._files import (
    ScoredFile,
    filter_names_in,
    join_scores,
    labels_of,
    model_names_in,
    names_of_instances,
    read,
    scores_meant,
)
from ._from_table import from_table
from ._items import MOST_VALUES
from ._log import Answer, EvaluationLog
from ._many import join_many
from ._pairing import PairedPredictions, Unmatched, join, match
from ._predictions import ALL_SCORES, Columns, OtherNamesError, Predictions
from ._settled import settled

__all__ = [
    "ALL_SCORES",
    "MOST_VALUES",
    "Answer",
    "Columns",
    "EvaluationLog",
    "OtherNamesError",
    "PairedPredictions",
    "Predictions",
    "ScoredFile",
    "Unmatched",
    "filter_names_in",
    "from_table",
    "join",
    "join_many",
    "join_scores",
    "labels_of",
    "match",
    "model_names_in",
    "names_of_instances",
    "read",
    "same_content",
    "scores_meant",
    "settled",
]
