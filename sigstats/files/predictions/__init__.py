"""Predictions that two or more models made for the same rows: read from files, joined by id."""

from sigstats.comparison.paired_predictions import PairedPredictions as PairedPredictions

from ._columns import ALL_SCORES as ALL_SCORES
from ._columns import MODELS as MODELS
from ._columns import Columns as Columns
from ._files import costs_of_file as costs_of_file
from ._files import has_instances as has_instances
from ._files import is_of_tables as is_of_tables
from ._files import join_scores as join_scores
from ._files import model_names_in as model_names_in
from ._files import names_of_instances as names_of_instances
from ._files import parse as parse
from ._files import read as read
from ._files import read_by_scores as read_by_scores
from ._files import read_choices as read_choices
from ._files import read_labels as read_labels
from ._from_table import from_table as from_table
from ._log import Answer as Answer
from ._log import EvaluationLog as EvaluationLog
from ._other_columns import MOST_VALUES as MOST_VALUES
from ._other_columns import may_count as may_count
from ._other_columns import other_column_codes as other_column_codes
from ._pairing import join as join
from ._predictions import Predictions as Predictions
from ._settling import settle as settle
