"""What a comparison says: a row for each measure on each slice, and the verdict."""

from dataclasses import dataclass, fields
from typing import Any

from .display import as_html, as_plain
from .rows import ComparedRows
from .rows import ComparisonRow as ComparisonRow


@dataclass(frozen=True, kw_only=True, repr=False)
class ComparisonResult(ComparedRows):
    """The result of a comparison; a table where it is printed, and in a notebook.

    Attributes
    ----------
    rows : tuple of ComparisonRow
        Every measure on all rows, then on each slice.
    rule : ComparisonRule
        The rule of the verdict.
    n : int
        The number of rows that both models predicted, for the score with most rows; the number of items if all answers
        to each are averaged.
    items : int or None
        The number of items that the rows answer, if items have several answers.
    subjects : pair of mappings of str to str, or None
        The task, model, score and similar attributes of baseline and candidate, for display.
    notes : tuple of str
        Remarks about the data and the methods, a line each.
    identical : bool
        Whether the two inputs are identical: files of the same bytes, frames of the same content, or the same arrays.
        Then nothing was tested, and the verdict is "pass".
    """

    def to_pandas(self) -> Any:
        """All rows as a `pandas.DataFrame`, with the fields of `ComparisonRow` as columns, intervals as two.

        Examples
        --------
        >>> import sigstats
        >>> found = sigstats.compare([0, 1] * 50, [0, 1] * 50, [0] * 100)
        >>> found.to_pandas()[["slice", "difference", "verdict"]]
              slice  difference verdict
        0  all rows        -0.5    fail
        """
        import narwhals as nw

        table: dict[str, list[Any]] = {}
        for field in fields(ComparisonRow):
            values = [getattr(row, field.name) for row in self.rows]
            if field.name.endswith("_interval"):
                for end, name in enumerate(("low", "high")):
                    table[field.name.replace("interval", name)] = [
                        None if each is None else each[end] for each in values
                    ]
            else:
                table[field.name] = values
        return nw.from_dict(table, backend="pandas").to_native()

    def __repr__(self) -> str:
        return as_plain(self)

    def _repr_html_(self) -> str:
        return as_html(self)
