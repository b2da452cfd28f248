"""The design of a simulation study, as in a paper (ADEMP)."""

from collections.abc import Sequence

from sigstats._common.messages import join_words
from sigstats._common.numerals import count_of, significant
from sigstats.tasks.calibration.rejections import COVERAGE, ERROR
from sigstats.tasks.calibration.work import Described, OnTestSets, Tested, measure_name
from sigstats.tasks.plan import Cell
from sigstats.tasks.schema import POWER

from ...report.evidence import Evidence
from ...report.rows import distinct


def design(evidence: Evidence) -> list[tuple[str, str]]:
    """Return the design that Morris, White and Crowther (2019) ask simulation studies to report, or an empty text."""
    cells = [cell for cell in evidence.results.plan.cells if isinstance(cell.work, Tested)]
    if not cells:
        return []
    return [
        ("Aims", _aims(evidence)),
        ("Data", _data(cells)),
        ("Estimands", "; ".join(distinct(_estimand_in_words(cell) for cell in cells)) + "."),
        ("Methods", "; ".join(distinct(cell.subject["test"] for cell in cells)) + "."),
        ("Performance measures", _performance(evidence, cells)),
    ]


def _aims(evidence: Evidence) -> str:
    words = {
        ERROR: "how often each test rejects a true null hypothesis",
        POWER: "how often a false one",
        COVERAGE: "how often each interval contains the truth",
    }
    measures = {row.measure for row in evidence.rows}
    aims = [clause for measure, clause in words.items() if measure in measures]
    return (
        f"To find {join_words(aims)}, at these sizes of a test set." if aims else "To compare methods at these sizes."
    )


def _data(cells: Sequence[Cell]) -> str:
    populations = distinct((cell.subject["dataset"], cell.subject.get("slice")) for cell in cells)
    sizes = sorted({int(cell.subject["n"]) for cell in cells})
    most, seeds = max(cell.replicates for cell in cells), sorted({cell.seed for cell in cells})
    kinds = distinct(_kind(cell) for cell in cells)
    drawn = f"{'at most ' if any(cell.stopping for cell in cells) else ''}{most:,}"
    return (
        f"{count_of(len(populations), 'population')} ({'; '.join(kinds)}); {drawn} test sets of each of "
        f"{count_of(len(sizes), 'size')} ({', '.join(f'{size:,}' for size in sizes)} rows), the same for all methods; "
        f"seed {', '.join(map(str, seeds))}.{_factors(cells)}"
    )


def _kind(cell: Cell) -> str:
    if cell.fanout == "fold-test":
        return "samples on which learners are retrained"
    drawn_from = cell.work.population if isinstance(cell.work, OnTestSets) else None
    if isinstance(drawn_from, Described):
        return drawn_from.in_words
    endless = isinstance(cell.work, OnTestSets) and cell.work.endless
    return "endless, drawn independently" if endless else "rows, drawn without replacement"


def _factors(cells: Sequence[Cell]) -> str:
    values: dict[str, set[float]] = {}
    for cell in cells:
        for name, value in (cell.work_of(Tested).factors or {}).items():
            values.setdefault(name, set()).add(value)
    parts = [f"{name} {', '.join(significant(value) for value in sorted(item))}" for name, item in values.items()]
    return f" Factors, in all combinations: {'; '.join(parts)}." if parts else ""


def _described_population(work: Tested) -> Described | None:
    return work.population if isinstance(work, OnTestSets) and isinstance(work.population, Described) else None


def size(cell: Cell) -> str:
    """Return the size of a test set in words."""
    work = cell.work_of(Tested)
    described = _described_population(work)
    return count_of(work.n, "row" if described is None else described.UNIT)


def estimand(cell: Cell) -> str:
    """Name the estimand of a method if the estimands of a study differ; empty for a test of two classifiers."""
    if cell.fanout == "interval":
        words = {"a": "F1 of A", "difference": "difference of F1"}
        test = cell.work_of(Tested).test
        other = f"{test.measure} of B minus that of A" if test.measure else "accuracy of B minus that of A, to people"
        return words.get(test.options.get("of", ""), other)
    if cell.fanout == "fold-test":
        of_one = cell.work_of(Tested).test.test in ("efficiency", "permutation")
        return "accuracy of A against chance" if of_one else "expected accuracy of B minus that of A"
    described = _described_population(cell.work_of(Tested))
    return "" if described is None else described.ABOUT


def _estimand_in_words(cell: Cell) -> str:
    test = cell.work_of(Tested).test
    name = test.measure if test.test == "scores" else ""
    return estimand(cell) or f"{name or measure_name(test)} of B minus that of A"


def _performance(evidence: Evidence, cells: Sequence[Cell]) -> str:
    measures = distinct(row.measure for row in evidence.rows if row.test in ("calibration", "performance"))
    named = join_words([measure.replace("type I error", "type I error rate") for measure in measures])
    ends = {key: value for cell in cells for key, value in (cell.stopping or {}).items()}
    wanted = f", of a rate at most {significant(ends['error'])}" if "error" in ends else ""
    most = f"; a cell ends at {ends['exceedances']:,} rejections or misses" if "exceedances" in ends else ""
    return f"{named}, each with its Monte-Carlo standard error{wanted}{most}."
