"""The figures of a report as objects: a notebook shows them, and they save as SVG, PNG and PDF."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from sigstats._common.validation import did_you_mean, refuse
from sigstats.tasks.plan import Cell
from sigstats.tasks.results import Results
from sigstats.tasks.schema import Hypothesis

from ..report import figures
from ..report.evidence import Evidence
from ..report.over_data_sets import OverDataSets
from ..report.section import Figure
from ..report.standalone import standalone


@dataclass(frozen=True)
class Plot:
    """A figure of a report.

    Attributes
    ----------
    title, caption : str
        What it shows, and how it is read.
    svg : str
        The drawing with its caption, which needs no page and no network.
    """

    title: str
    caption: str
    svg: str = field(repr=False)

    def save(self, path: "str | PathLike[str]") -> None:
        """Write the figure to a file.

        Parameters
        ----------
        path : str or path
            A name that ends with ``.svg``, or with ``.png`` or ``.pdf``, which need CairoSVG (``pip install
            'sigstats[png]'``).

        Raises
        ------
        ValueError
            If the suffix is another one, CairoSVG is not there, or the file cannot be written.
        """
        place = Path(fspath(path))
        if place.suffix not in (".svg", ".png", ".pdf"):
            raise refuse("path", fspath(path), "a name that ends with .svg, .png or .pdf")
        content = self.svg.encode() if place.suffix == ".svg" else _by_cairo(self.svg, place)
        try:
            place.write_bytes(content)
        except OSError as error:
            raise ValueError(f"path: {place} cannot be written ({error.strerror or error})") from None

    def _repr_svg_(self) -> str:
        return self.svg


def _by_cairo(drawing: str, path: Path) -> bytes:
    try:
        import cairosvg
    except ImportError:
        how = "pip install 'sigstats[png]'"
        raise refuse("path", str(path), f"a name that ends with .svg; {path.suffix} needs {how}") from None
    except OSError:  # what CairoSVG loads
        how = "the library cairo, which CairoSVG did not find (libcairo2 of Debian, cairo of Homebrew and conda-forge)"
        raise refuse("path", str(path), f"a name that ends with .svg; {path.suffix} needs {how}") from None
    source = drawing.encode()
    made: bytes = cairosvg.svg2pdf(bytestring=source) if path.suffix == ".pdf" else cairosvg.svg2png(source, scale=2)
    return made


@dataclass(frozen=True)
class StudyPlots:
    """The figures of the report of a study.

    Examples
    --------
    >>> import tempfile
    >>> from sigstats.flows.api.run import run_study
    >>> study = {"kind": "benchmark", "datasets": ["iris"], "classifiers": ["lda", "1-nn"],
    ...          "cross_validation": {"folds": 3}, "permutation": {"resamples": 19}}
    >>> found = run_study(study, output=tempfile.mkdtemp())
    >>> found.plot.names
    ('grids', 'null', 'pairs', 'permutation-tests')
    >>> found.plot.null(classifier="lda")
    Plot(title='Errors under the null hypothesis', caption='The histogram is the error of classifiers ...')
    >>> found.plot.pairs().save("pairs.svg")  # doctest: +SKIP
    """

    _results: Results = field(repr=False)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The figures that this study has."""
        evidence = Evidence(self._results)
        return tuple(sorted(name for name, draw in figures.kinds().items() if any(True for _ in draw(evidence))))

    def null(self, dataset: str | None = None, classifier: str | None = None) -> Plot:
        """The errors of retrains under each null hypothesis, with the observed one.

        Parameters
        ----------
        dataset, classifier : str, optional
            Show only these.

        Raises
        ------
        ValueError
            If the study has no such figure; the message names those that it has.
        """
        return self._drawn("null", dataset=dataset, classifier=classifier)

    def power(self, dataset: str | None = None) -> Plot:
        """How often each test rejects against the size of the test set; ValueError as `null`."""
        return self._drawn("power", dataset=dataset)

    def pairs(self, dataset: str | None = None) -> Plot:
        """Which classifier is shown to be better than which; ValueError as `null`."""
        return self._drawn("pairs", dataset=dataset)

    def __call__(
        self,
        name: str,
        *,
        dataset: str | None = None,
        slice: str | None = None,  # noqa: A002 - the name of the column
        classifier: str | None = None,
    ) -> Plot:
        """Return the figure of this name.

        Parameters
        ----------
        name : str
            One of `names`.
        dataset, slice, classifier : str, optional
            Show only these, by their names in the columns of `StudyResults.summary`.

        Raises
        ------
        ValueError
            If the study has no such figure; the message names those that it has.
        """
        return self._drawn(name, dataset=dataset, slice=slice, classifier=classifier)

    def _drawn(self, name: str, **subject: str | None) -> Plot:
        asked = {key: value for key, value in subject.items() if value is not None}
        if name not in self.names:
            hint = did_you_mean(name, self.names)
            raise refuse("figure", name, f"one that this study has: {', '.join(self.names) or 'it has none'}{hint}")
        evidence = _Chosen(self._results, asked)
        for key, value in asked.items():
            known = sorted({str(each) for row in Evidence(self._results).rows for each in _values(vars(row), key)})
            if value not in known:
                raise refuse(key, value, f"one of {', '.join(known)}" + did_you_mean(value, known))
        drawn: list[Figure] = list(figures.kinds()[name](evidence))
        if not drawn:
            raise ValueError(f"figure: {name!r} has nothing to show of {', '.join(asked.values())}")
        return Plot(
            "; ".join(each.title for each in drawn), " ".join(each.caption for each in drawn), standalone(drawn)
        )


@dataclass(frozen=True)
class _Chosen(Evidence):
    """The hypotheses about one data set, one part of its rows, or one classifier."""

    subject: Mapping[str, str]

    @cached_property
    def rows(self) -> tuple[Hypothesis, ...]:
        return tuple(row for row in Evidence(self.results).rows if self._is_of(vars(row)))

    @cached_property
    def over_data_sets(self) -> OverDataSets | None:
        """Of all or none: what is said of several data sets is not about one."""
        return None if self.subject else super().over_data_sets

    def cells_with(self, fanout: str) -> list[Cell]:
        return [cell for cell in super().cells_with(fanout) if self._is_of(cell.subject)]

    def _is_of(self, found: Mapping[str, Any]) -> bool:
        return all(value in _values(found, key) for key, value in self.subject.items())


def _values(found: Mapping[str, Any], key: str) -> set[Any]:
    """What a hypothesis or a cell is about: of classifiers, the one that is tested or the two that are compared."""
    keys = ("classifier", "a", "b") if key == "classifier" else (key,)
    return {found.get(each) for each in keys} - {None}
