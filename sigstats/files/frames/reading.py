"""The predictions that `sigstats compare` reads from files, as a data frame.

When not to use: for files that hold no predictions; pandas reads tables.
"""

import glob
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from sigstats._common.class_columns import class_names_of
from sigstats._common.validation import refuse, shown

from ..._common.messages import as_arguments
from ._columns import as_score_names, make_columns

if TYPE_CHECKING:
    import pandas as pd

    from ..predictions import Columns, Predictions

_LONGEST_NAME = 255


def read_predictions(
    paths: Any,
    *,
    id: str | None = None,  # noqa: A002 - the name of the column
    label: str | None = None,
    prediction: str | None = None,
    score: str | Sequence[str] | None = None,
    epoch: str | None = None,
    filter: str | None = None,  # noqa: A002 - the harness's name
    model: str | None = None,
    groups: str | None = None,
    slices: Sequence[str] = (),
    unscored: Literal["refuse", "drop", "wrong"] = "refuse",
    duplicates: Literal["refuse", "first", "last", "all"] | None = None,
    missing: str | Sequence[str] = (),
    classes: Sequence[Any] | None = None,
    encoding: str | None = None,
) -> "pd.DataFrame":
    r"""Read the predictions in files of any format that `sigstats compare` knows.

    Parameters
    ----------
    paths : str, path, or a sequence of them
        Files, fsspec URLs, or patterns such as ``"logs/*.eval"``, whose files are read in the order of their names.
    id, label, prediction : str, optional
        The names of columns of tables; these by default.
    score : str or sequence of str, optional
        A column of numbers, or the name of a scorer or metric of a log; ``"all"`` for all scores of a log. Several
        scores become separate columns.
    epoch : str, optional
        In a table, the column that numbers several answers to one id.
    filter : str, optional
        In a log of lm-evaluation-harness, the filter whose answers are read; for HELM the perturbation, for promptfoo
        the prompt.
    model : str, optional
        In a log of several models (promptfoo's providers), the model whose answers are read.
    groups : str, optional
        A column of groups, whose rows are not independent.
    slices : sequence of str
        Further columns to read.
    unscored : {"refuse", "drop", "wrong"}
        Whether answers that failed or have no score are refused, dropped, or counted as wrong.
    duplicates : {"refuse", "first", "last", "all"}, optional
        Whether results that repeat an id are refused, one of them is kept, or each is an answer, with its ``epoch``.
        By default they are refused, unless their program repeats items (HumanEval).
    missing, classes
        As `sigstats.compare` takes them.
    encoding : str, optional
        The encoding of text files, such as ``"cp1252"``; UTF-8 by default.

    Returns
    -------
    pandas.DataFrame
        Columns ``id``, ``label``, ``prediction``, ``score`` and ``epoch`` if the files have them, `groups` and
        `slices`, and ``file`` if several files are read. For a log the label is ``"right"`` and the prediction
        ``"right"`` or ``"wrong"``. Several scores are in columns of their own names, NaN if an answer lacks one; for a
        log they replace the prediction.

    Raises
    ------
    ValueError
        If a file is not valid; one line that names the file and the problem.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import sigstats
    >>> file = pathlib.Path(tempfile.mkdtemp(), "predictions.csv")
    >>> _ = file.write_text("id,label,prediction\n7,cat,cat\n8,dog,cat\n")
    >>> sigstats.read_predictions(file)
      id label prediction
    0  7   cat        cat
    1  8   dog        cat
    """
    import pandas as pd

    from ..predictions import ALL_SCORES

    scores = as_score_names(score)
    named = {"id": id, "label": label, "prediction": prediction}
    columns = make_columns(
        {**named, "epoch": epoch, "filter": filter, "model": model, "group": groups},
        slices=slices,
        unscored=unscored,
        duplicates=duplicates,
        missing=missing,
        classes=class_names_of(classes),
        encoding=encoding,
        named=frozenset(name for name, value in named.items() if value is not None),
    )
    files = _files(paths)
    one = score is None or (isinstance(score, str) and score != ALL_SCORES)
    frames = [_frame_of_scores(file, columns, scores, one=one) for file in files]
    if len(files) > 1:
        for file, frame in zip(files, frames, strict=True):
            frame.insert(0, "file", file)
    return pd.concat(frames, ignore_index=True)


def _frame_of_scores(file: str, columns: "Columns", scores: Sequence[str | None], *, one: bool) -> "pd.DataFrame":
    """Return the rows of one file with a column for each score; `one`: a single score, which is called ``score``."""
    import pandas as pd

    from ..predictions import read_by_scores

    with as_arguments():
        (by_score,) = read_by_scores([(file, columns)], scores)
    frames = {name: _frame(file, columns, predictions.decoded(), graded=one) for name, predictions in by_score.items()}
    if one:
        return next(iter(frames.values()))
    values = []
    for name, frame in frames.items():
        if name != "score" and name in frame.columns:
            raise refuse("score", name, "the name of no other column that is read")
        values.append(frame.set_index([key for key in frame.columns if key != "score"])["score"].rename(name))
    return pd.concat(values, axis=1).reset_index()  # answers that lack a score were left out


def _frame(file: str, columns: "Columns", predictions: "Predictions", *, graded: bool) -> "pd.DataFrame":
    """Make a data frame of the predictions of one file; `graded`: the file is an evaluation log."""
    import pandas as pd

    for name in columns.optional:
        if name not in predictions.requested:
            raise ValueError(f"{file}: column {shown(name)} was not found")
    predicted = predictions.outcomes.predicted and (graded or not predictions.outcomes.graded)
    table = {
        "id": predictions.ids,
        "epoch": predictions.epoch,
        "label": predictions.outcomes.label if predictions.source.harness or not predictions.outcomes.graded else None,
        "prediction": predictions.outcomes.prediction if predicted else None,
        "score": predictions.score and predictions.score.values,
    }
    columns_read = {name: column for name, column in {**table, **predictions.requested}.items() if column is not None}
    return pd.DataFrame({name: value.to_pandas() for name, value in columns_read.items()})


def _files(paths: Any) -> list[str]:
    given = [paths] if isinstance(paths, (str, os.PathLike)) else paths
    if not isinstance(given, Sequence) or not given or not all(isinstance(part, (str, os.PathLike)) for part in given):
        raise refuse("paths", paths, "a path, a pattern, or a sequence of them")
    files = []
    for path in map(str, given):
        if "\0" in path or max(map(len, path.split("/"))) > _LONGEST_NAME:
            raise refuse("paths", path, f"names without a zero byte, of at most {_LONGEST_NAME} characters")
        pattern = "://" not in path and glob.has_magic(path) and not Path(path).exists()
        names = sorted(glob.glob(path, recursive=True)) if pattern else [path]  # noqa: PTH207 - a pattern may be absolute
        if not names:
            raise ValueError(f"paths: {path!r} is not valid; no file fits the pattern")
        files += names
    return files
