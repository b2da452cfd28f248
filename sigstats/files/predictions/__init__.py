"""Predictions that two or more models made for the same rows: read from files, joined by id."""

from ._agreement import same_content
from ._columns import ALL_SCORES, Columns
from ._designs import People, join_samples, judged_by, of_two_samples, read_judged, with_people
from ._files import (
    costs_of_file,
    filter_names_in,
    join_scores,
    labels_of,
    model_names_in,
    names_of_instances,
    parsed,
    read,
    read_by_scores,
    read_each,
)
from ._from_table import from_table
from ._log import Answer, EvaluationLog
from ._many import join_many
from ._pairing import PairedPredictions, Unmatched, join, match
from ._predictions import MOST_VALUES, Predictions, other_column_codes
from ._selection import settled

__all__ = [
    "ALL_SCORES",
    "MOST_VALUES",
    "Answer",
    "Columns",
    "EvaluationLog",
    "PairedPredictions",
    "People",
    "Predictions",
    "Unmatched",
    "costs_of_file",
    "filter_names_in",
    "from_table",
    "join",
    "join_many",
    "join_samples",
    "join_scores",
    "judged_by",
    "labels_of",
    "match",
    "model_names_in",
    "names_of_instances",
    "of_two_samples",
    "other_column_codes",
    "parsed",
    "read",
    "read_by_scores",
    "read_each",
    "read_judged",
    "same_content",
    "settled",
    "with_people",
]
