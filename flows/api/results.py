"""The results of a study as data frames."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any

from sigstats._common.validation import did_you_mean, refuse
from sigstats.tasks.benchmark.work import CrossValidated, dataset_of
from sigstats.tasks.plan import Cell
from sigstats.tasks.results import Results
from sigstats.tasks.schema import RENAMED
from sigstats.tasks.storage.history import Record, read
from sigstats.tasks.storage.seal import Damaged
from sigstats.tasks.storage.store import Store

from ..running.options import as_place

if TYPE_CHECKING:
    import pandas as pd

    from ..benchmark.report.accuracies import Accuracies
    from .plots import StudyPlots


@dataclass(frozen=True)
class StudyResults:
    """The results of a study, finished or interrupted, read from its output.

    Attributes
    ----------
    output : str
        The folder or the URL.
    study : mapping
        The resolved configuration, as in a study file.
    verdict : str or None
        For a regression study, ``"pass"``, ``"inconclusive"`` or ``"fail"`` for its newest comparison; otherwise None.
    summary : pandas.DataFrame
        One row per hypothesis; for a regression study, per measure and slice of its newest comparison:
        ``dataset``, ``classifier``, ``test``, ``estimate``, ``p_value``, ``p_adjusted``, ``pd``,
        ``nsd``, ``decision`` ... Columns in which no row has a value are left out.
    cells : pandas.DataFrame
        One row per cell: its fan-out, its subject, the number of planned replicates, and whether it is complete.
    accuracies : Accuracies
        The accuracies of a benchmark, data sets by classifiers, with mean ranks and marks of significance. It prints as
        a table and has ``.to_latex()``, ``.to_markdown()`` and ``.to_pandas()``.
    report : str
        The path or URL of the report.
    plot : StudyPlots
        The figures, drawn with Matplotlib.
    """

    output: str
    _results: Results = field(repr=False)
    #: The comparison of a regression study.
    _record: Record | None = field(default=None, repr=False)

    @cached_property
    def study(self) -> Mapping[str, Any]:
        """The resolved configuration."""
        study = self._results.store.read_json("study.json").get("study")
        return study if isinstance(study, dict) else {}

    @property
    def verdict(self) -> str | None:
        """The verdict of a regression study."""
        return None if self._record is None else self._record.evaluation.verdict

    @cached_property
    def summary(self) -> "pd.DataFrame":
        """One row for each hypothesis; a note tells why a decision is ``"withheld"``."""
        import pandas as pd

        from ..report.evidence import Evidence

        if self._record is None:
            return Evidence(self._results).summary
        return pd.DataFrame(self._record.rows).dropna(axis="columns", how="all")

    @cached_property
    def cells(self) -> "pd.DataFrame":
        """One row for each cell."""
        import pandas as pd

        rows = []
        for cell in self._cells:
            table = self._results.table(cell)
            rows.append({**_about(cell), "planned": cell.replicates, "complete": table is not None})
        return pd.DataFrame(rows)

    @cached_property
    def plot(self) -> "StudyPlots":
        """The figures: ``plot.null(ax=ax)``, ``plot.forest()``, ``plot.power()``; ``plot.names`` has all."""
        from .plots import StudyPlots

        return StudyPlots(self._results, self._record)

    @property
    def accuracies(self) -> "Accuracies":
        """The accuracies of a benchmark, data sets by classifiers, with ranks and marks: ``.to_latex()``."""
        from ..benchmark.report.accuracies import accuracies
        from ..report.evidence import Evidence

        if self.study.get("kind") != "benchmark":
            raise ValueError("accuracies: only a benchmark study has them; `summary` has the results of this study")
        return accuracies(Evidence(self._results))

    @property
    def report(self) -> str:
        """The path or URL of the report."""
        return f"{self.output.rstrip('/')}/report.html"

    def replicates(self, **subject: str) -> "pd.DataFrame":
        """Return the replicates of the complete cells of a subject.

        Parameters
        ----------
        **subject : str
            Values of columns of `cells`, as in ``dataset="iris", fanout="retrain"``; none for all cells.

        Returns
        -------
        pandas.DataFrame
            One row for each replicate, with the columns of its cell's subject.

        Raises
        ------
        ValueError
            If no cell has this subject, if cells of several fan-outs have it, whose replicates have other columns, or
            if none of them is complete.
        """
        import pandas as pd

        chosen = self._chosen(subject)
        kinds = sorted({cell.fanout for cell in chosen})
        if len(kinds) > 1:
            raise ValueError(f"fanout: there are {', '.join(kinds)}; expected one of them, as in fanout={kinds[0]!r}")
        return pd.concat([frame for _, frame in self._frames(chosen)], ignore_index=True)

    def predictions(self, **subject: str) -> "pd.DataFrame":
        """Return the cross-validated predictions of a benchmark study.

        Parameters
        ----------
        **subject : str
            ``dataset`` and ``classifier``, or one of them; none for all.

        Returns
        -------
        pandas.DataFrame
            A row a row of a data set: ``dataset``, ``classifier``, ``row``, ``fold``, and ``label`` and ``prediction``
            by the names of the classes.

        Raises
        ------
        ValueError
            If no observed run has this subject, or none is complete.
        """
        import pandas as pd

        frames = []
        for cell, frame in self._frames(self._chosen({**subject, "fanout": "crossval"})):
            classes = dataset_of(self._results.store, cell.work_of(CrossValidated)).classes
            named = {column: [classes[code] for code in frame[column]] for column in ("label", "prediction")}
            frames.append(frame.assign(**named).drop(columns=["fanout", "replicate"]))
        return pd.concat(frames, ignore_index=True)

    @property
    def _cells(self) -> Sequence[Cell]:
        return self._results.plan.cells if self._record is None else ()

    def _chosen(self, subject: Mapping[str, str]) -> list[Cell]:
        chosen = list(self._cells)
        for key, value in ((RENAMED.get(key, key), value) for key, value in subject.items()):
            matching = [cell for cell in chosen if _about(cell).get(key) == value]
            if not matching:
                known = sorted({_about(cell)[key] for cell in chosen if key in _about(cell)})
                hint = did_you_mean(value, known)
                raise refuse(key, value, f"one of {', '.join(known) or 'no values: no cell has it'}{hint}")
            chosen = matching
        return chosen

    def _frames(self, cells: list[Cell]) -> Iterator[tuple[Cell, "pd.DataFrame"]]:
        """Return the replicates of each complete cell with its subject; raise ValueError if no cell is complete."""
        complete = False
        for cell in cells:
            table = self._results.table(cell)
            if table is not None:
                complete = True
                frame = table.to_pandas()
                about = {key: value for key, value in _about(cell).items() if key not in frame}
                for place, (key, value) in enumerate(about.items()):
                    frame.insert(place, key, value)
                yield cell, frame
        if not complete:
            raise ValueError(f"{self.output}: none of {len(cells)} cells is complete; run the study again to continue")

    def _repr_html_(self) -> str:
        """Return the summary as a notebook shows a data frame."""
        html: str = self.summary.to_html()
        return html


def _about(cell: Cell) -> dict[str, str]:
    return {"fanout": cell.fanout, **cell.columns}


def open_results(output: "str | PathLike[str]") -> StudyResults:
    """Open the results of a study, as `sigstats run` or `sigstats.run_study` wrote them.

    When not to use: for a folder that `sigstats run` did not write; `sigstats.read_predictions` reads predictions.

    Parameters
    ----------
    output : str or path
        A folder or an fsspec URL.

    Returns
    -------
    StudyResults

    Raises
    ------
    ValueError
        If there are no results of a study, or they cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> import sigstats
    >>> ulcers = {"name": "ulcers", "counts": [[9, 7, 3], [15, 17, 13], [3, 7, 28]], "methods": ["exact"]}
    >>> study = {"kind": "significance", "tables": [ulcers]}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = sigstats.run_study(study, output=folder)
    ...     found = sigstats.open_results(folder)
    ...     found.summary[["dataset", "test", "method", "decision"]].to_dict("records")
    [{'dataset': 'ulcers', 'test': 'efficiency', 'method': 'exact', 'decision': 'reject'}]
    """
    where = as_place(output)
    results = Results(Store(where))
    try:
        if evaluations := read(results.store)[0]:
            return StudyResults(where, results, evaluations[-1])
        _ = results.plan, results.summary
    except (FileNotFoundError, NotADirectoryError):
        raise refuse("output", where, "the output of a study, with a summary or a history") from None
    except (Damaged, OSError) as error:
        raise ValueError(f"output: {where} cannot be read ({' '.join(str(error).split())})") from None
    return StudyResults(where, results)
