"""The significance study: which tables of counts are better than chance, which are equal, which are as required.

Each table is tested by each of its methods. The replicates of Monte-Carlo methods are computed by many workers.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, NamedTuple

from pydantic import Field, create_model, model_validator

from sigstats._common.messages import refuse, rephrased, shown
from sigstats.tasks.fan_out import cell_of
from sigstats.tasks.own_code import allow_measures
from sigstats.tasks.plan import Cell
from sigstats.tasks.significance import Evaluated, TableTested
from sigstats.tasks.statistical_tests import MONTE_CARLO, table_test
from sigstats.tasks.summary import Reference

from ..config.model import Study
from ..config.settings import StoppingSettings, note_on_unused, stopping_notes
from ..running.kind import Kind
from ..running.options import Prepared, Progress
from .tables import Case, Entry, entries


class _Significance(Study, StoppingSettings):
    """The keys of a study file of ``kind = "significance"`` other than its tables."""

    question: ClassVar[str] = (
        "are these tables of counts better than chance, equal, as required? who is best in a table of scores?"
    )

    kind: Literal["significance"]
    resamples: int = Field(
        99_999, ge=1, le=10**10, description="Monte-Carlo replicates per test, unless the test has its own number"
    )

    @model_validator(mode="after")
    def _something_to_test(self) -> "_Significance":
        if not any(getattr(self, key) for key in entries()):
            raise ValueError(f"there is nothing to test; expected one of [[{']], [['.join(entries())}]]")
        for key, entry in entries().items():
            if entry.ALONE and len(getattr(self, key)) > 1:
                raise ValueError(f"{key}: {len(getattr(self, key))} are not valid; give one, and use a study for each")
        return self


if TYPE_CHECKING:
    SignificanceStudy = _Significance
else:
    SignificanceStudy = create_model(
        "SignificanceStudy",
        __base__=_Significance,
        __doc__='What a study file of ``kind = "significance"`` may say.',
        **{key: (Annotated[list[entry], Field(description=entry.__doc__)], []) for key, entry in entries().items()},
    )


def _layout(study: _Significance, base: Path, progress: Progress, allow: Sequence[str]) -> Prepared:  # noqa: ARG001
    if study.stopping == "joint":
        raise refuse("stopping", study.stopping, "another rule, since this one is for permutation tests of a benchmark")
    allow_measures((getattr(entry, "measure", "") for key in entries() for entry in getattr(study, key)), allow)
    every = [_Tables(key, entry, _cases(key, entry, base)) for key in entries() for entry in getattr(study, key)]
    _refuse_repeated_names(every)
    # Tests by one method are adjusted together.
    drawn = Counter(case.shown_as or case.test for _, entry, cases in every if entry.draws for case in cases)
    cells: list[Cell] = []
    references: list[Reference] = []
    for key, entry, cases in every:
        for case in cases:
            with rephrased(f"{key}: {entry.name}: "):
                table_test(case.test).observed(case.data)
            methods = case.methods or entry.methods
            for method in case.printed.printed:
                if method not in methods:
                    raise refuse(f"{key}: {entry.name}: printed", method, f"one of the methods {', '.join(methods)}")
            for method in methods:
                cell = _cell(study, entry, case, method, tests=drawn[case.shown_as or case.test])
                cells.append(cell)
                references.extend(case.printed.references(cell.name, method))
    plan = study.plan_of(cells, ("significance", "likeness"))
    notes = [f"{entry.name}: {case.data['note']}" for _, entry, cases in every for case in cases if "note" in case.data]
    notes = [*dict.fromkeys(notes), *_notes(study, drawn), *stopping_notes(plan)]
    return Prepared(plan, notes=tuple(notes), references=tuple(references))


class _Tables(NamedTuple):
    """An entry of a study file, with its key and the tables that are tested."""

    key: str
    entry: Entry
    cases: list[Case]


def _refuse_repeated_names(every: Sequence[_Tables]) -> None:
    """Refuse a name that two entries of one key share, since a report has one verdict for a name.

    A new algorithm and the known ones it is compared with are one entry, named after the new one.
    """
    taken: set[tuple[str, ...]] = set()
    for key, _, cases in every:
        subjects = [case.subject for case in cases]
        names = [(of["dataset"], *(sorted((of["a"], of["b"])) if "b" in of else ())) for of in subjects]
        for name, *pair in dict.fromkeys(names):
            if (key, name, *pair) in taken:
                of, once = (f" of {pair[0]!r} and {pair[1]!r}", " for a pair") if pair else ("", "")
                raise ValueError(f"{key}: name: {shown(name)}{of} is not valid; expected each name once{once}")
            taken.add((key, name, *pair))


def _notes(study: _Significance, drawn: Counter[str]) -> Iterator[str]:
    if drawn:
        yield from note_on_unused(study.unused([study.stopping]), f"stopping is {study.stopping!r}")
    else:
        given = study.model_fields_set & {"resamples", *StoppingSettings.model_fields}
        yield from note_on_unused(given, f"no table names the method {MONTE_CARLO}")


def _cases(key: str, entry: Entry, base: Path) -> list[Case]:
    with rephrased(f"{key}: {entry.name}: "):
        return list(entry.cases(base))


def _cell(study: _Significance, entry: Entry, case: Case, method: str, *, tests: int) -> Cell:
    subject = {"test": case.shown_as or case.test, **case.subject, "method": method}
    if method == MONTE_CARLO:
        replicates = entry.resamples or study.resamples
        rule = study.stopping_of(alpha=study.alpha, adjust=study.adjust, tests=tests, replicates=replicates)
        work = TableTested(test=case.test, data=case.data)
        return cell_of("replicate", subject=subject, work=work, seed=study.seed, replicates=replicates, stopping=rule)
    work = Evaluated(test=case.test, data=case.data, method=method)
    return cell_of("evaluate", subject=subject, work=work, seed=study.seed, replicates=1)


KIND = Kind(
    model=SignificanceStudy,
    layout=_layout,
    analyses={
        "likeness": "sigstats.tasks.significance:likenesses",
        "significance": "sigstats.tasks.significance:tested_tables",
    },
    page="sigstats.flows.significance.report",
)
