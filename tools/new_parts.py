"""What `tools.new` writes besides tests: a measure, a reader of data sets, a figure, and a kind of study."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Part:
    """The files and entries of a new part, and what is left to do; ``NAME`` and ``TITLE`` stand for its names."""

    #: What a name looks like, and an example.
    pattern: str
    example: str
    #: The new files by their places.
    files: Mapping[str, str]
    #: Entries: the file, a text in it, and what is written in place of that text.
    entries: Sequence[tuple[str, str, str]]
    left: Sequence[str]


_MEASURE_TEST = '''"""TITLE against its definition, over all small tables."""

import itertools

import numpy as np
import pytest

from sigstats.measures.table import MEASURES


def test_it_is_its_definition_on_every_small_table():
    tables = np.array([counts for counts in itertools.product(range(4), repeat=4) if sum(counts)])
    tp, fn, fp, tn = tables.T
    expected = (tp + tn) / (tp + fn + fp + tn)
    assert MEASURES["NAME"].of_counts(tp, fn, fp, tn) == pytest.approx(expected)
'''

_FORMULA = '''
def UNDER(tp: Any, fn: Any, fp: Any, tn: Any, *, undefined: float = 0.0) -> Any:
    """TITLE: what it is, and its source."""
    return ratio(tp + tn, tp + fn + fp + tn, undefined)


def kappa('''

_SPEC = '''    MeasureSpec(name="NAME", needs="classes", unit="points", of_counts=formulas.UNDER),
    MeasureSpec(
        name="kappa"'''

MEASURE = Part(
    pattern=r"(?!(micro|macro|weighted)-)[a-z][a-z0-9]*(-[a-z0-9]+)*",  # averages of another measure
    example="markedness",
    files={"tests/sigstats/measures/test_UNDER.py": _MEASURE_TEST},
    entries=[
        (
            "sigstats/measures/formulas.py",
            "\ndef kappa(",
            _FORMULA,
        ),
        (
            "sigstats/measures/table.py",
            '    MeasureSpec(\n        name="kappa"',
            _SPEC,
        ),
    ],
    left=[
        "sigstats/measures/formulas.py: the formula of `UNDER`; score_formulas.py if it is of scores",
        "sigstats/measures/table.py: what it needs, its unit, and whether less is better",
        "tests/sigstats/measures/test_UNDER.py: its definition, or values of another program",
    ],
)

_READER = '''"""TITLE: where the data come from."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..dataset import Dataset

#: What a study file may say, and what it must say.
OPTIONS: dict[str, type] = {}
REQUIRED = ()


def load(spec: Mapping[str, Any], base: Path) -> Dataset:  # noqa: ARG001
    """The data set of a study file; ValueError, one line, if it cannot be read."""
    y = np.arange(40, dtype=np.int64) % 2
    X = np.column_stack([y + np.arange(40) / 40, np.arange(40) % 7]).astype(float)
    return Dataset(
        name=spec["name"], X=X, nominal=np.zeros(2, dtype=bool), y=y, classes=("a", "b"), features=("x", "z"),
        categories=((), ()),
    )  # fmt: skip
'''

_READER_TEST = '''"""TITLE: the rows that it reads."""

from pathlib import Path

from sigstats.tasks.datasets import readers


def test_rows_and_classes_are_read():
    dataset = readers.load({"source": "DASHED", "name": "some"}, base=Path())
    assert (dataset.X.shape, dataset.classes) == ((40, 2), ("a", "b"))
'''

READER = Part(
    pattern=r"[a-z][a-z0-9_]*",
    example="ring",
    files={"tasks/datasets/readers/NAME.py": _READER, "tests/tasks/datasets/test_NAME.py": _READER_TEST},
    entries=[],
    left=[
        "tasks/datasets/readers/NAME.py: the options, and how the rows are read",
        "tests/tasks/datasets/test_NAME.py: rows whose values are known, and a source that cannot be read",
        "docs/benchmark.md: a row of the table of sources",
    ],
)

_FIGURE = '''"""TITLE: what it shows."""

from collections.abc import Iterator

from ...pages import svg
from ...pages.svg import Axes
from ...report.evidence import Evidence, Figure


def draw(evidence: Evidence) -> Iterator[Figure]:
    """One figure, if there are p-values."""
    values = sorted(row.p_value for row in evidence.rows if row.p_value is not None)
    if values:
        axes = Axes(width=236, height=104, x_limits=(0, len(values)), y_limits=(0, 1))
        parts = [axes.line("mean", enumerate(values)), axes.x_axis("rank"), axes.y_axis()]
        drawn = axes.drawing("NAME", "TITLE", f"{len(values)} p-values.", *parts)
        yield Figure(title="TITLE", caption="The p-values in their order.", body=svg.side_by_side([drawn]))
'''

_FIGURE_TEST = '''"""TITLE: what is drawn is what is stored."""

from sigstats.flows.benchmark.report.NAME import draw
from sigstats.flows.report.evidence import Evidence
from sigstats.tasks.results import Results

from ..synthetic_study import make_study


def test_it_is_drawn_of_a_study(tmp_path):
    (figure,) = draw(Evidence(Results(make_study(tmp_path, datasets=["iris"], lost=(), replicates=19))))
    assert figure.body.count("<svg") == 1
'''

_PAGE = "flows/benchmark/report/page.py"

FIGURE = Part(
    pattern=r"[a-z][a-z0-9_]*",
    example="sorted_p_values",
    files={"flows/benchmark/report/NAME.py": _FIGURE, "tests/flows/benchmark/test_NAME.py": _FIGURE_TEST},
    entries=[
        (
            "flows/benchmark/report/page.py",
            "from . import ",
            "from . import NAME, ",
        ),
        (
            "flows/benchmark/report/page.py",
            "        null_distributions.draw_histograms,\n",
            "        null_distributions.draw_histograms,\n        NAME.draw,\n",
        ),
    ],
    left=[
        "flows/benchmark/report/NAME.py: what is drawn; another kind of study has a folder and a `PAGE` of its own",
        "flows/benchmark/report/page.py: its place among the figures",
        "flows/api/plots.py: a method that draws the same with Matplotlib",
        "tests/flows/benchmark/test_NAME.py: the numbers that the drawing shows; look at the page, light and dark",
    ],
)

_KIND_MODEL = '''"""TITLE: the question of such a study."""

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field

from sigstats.tasks.fan_out import cell_of
from sigstats.tasks.plan import Plan
from sigstats.tasks.record import Work

from ..config.model import Study
from ..running.kind import Kind
from ..running.options import Prepared, Progress


class TITLEStudy(Study):
    """A study file of this kind."""

    question: ClassVar[str] = "is it fair?"
    kind: Literal["NAME"]
    draws: int = Field(100, ge=1, description="How often it is drawn")


def _layout(study: TITLEStudy, base: Path, progress: Progress, allow: Sequence[str]) -> Prepared:  # noqa: ARG001
    drawn = cell_of("NAME", subject={"dataset": "NAME"}, work=Work(), seed=study.seed, replicates=study.draws)
    plan = Plan(
        study=study.name, kind=study.kind, cells=(drawn,), analyses=("NAME",), alpha=study.alpha, adjust=study.adjust
    )
    return Prepared(plan)


KIND = Kind(model=TITLEStudy, layout=_layout, analyses={"NAME": "sigstats.tasks.NAME.rates:rows"})
'''

_KIND_FAN_OUT = '''"""Draws of a study of this kind."""

import numpy as np
import pyarrow as pa

from ..fan_out import FanOut, replicates_table
from ..plan import Block
from ..record import Work
from ..schema import REPLICATE, column
from ..storage.store import Store

_SCHEMA = pa.schema([REPLICATE, column("drawn", pa.bool_(), "truth", "whether it was drawn")])


def _compute(block: Block, store: Store, work: Work) -> pa.Table:  # noqa: ARG001
    """The draws of a block, lane by lane."""
    drawn = np.concatenate([lane.random(count) < 0.5 for lane, count in block.lanes()])
    return replicates_table(block, _SCHEMA, drawn=drawn)


FAN_OUT = FanOut(
    about="Draws of a study of this kind.",
    in_words="draws",
    lane_size=10,
    stream=lambda work: {"draws": "NAME"},  # noqa: ARG005
    schema=_SCHEMA,
    compute=_compute,
)
'''

_KIND_ANALYSIS = '''"""How often it was drawn."""

from collections.abc import Iterator

from ..results import Results
from ..schema import Hypothesis


def rows(results: Results, name: str) -> Iterator[Hypothesis]:
    """One row for each cell."""
    for cell in results.cells("NAME"):
        row = results.hypothesis(
            cell, test=name, method="counted", alternative="two-sided", null_hypothesis="nothing is tested"
        )
        table = results.table(cell)
        if table is not None:
            drawn = table.column("drawn").to_numpy()
            row = row.with_(n=len(drawn), estimate=float(drawn.mean()), decision="none")
        yield row
'''

_KIND_TEST = '''"""A study of the kind NAME."""

import sigstats


def test_it_is_drawn_as_often_as_the_study_says(tmp_path):
    results = sigstats.run_study({"kind": "NAME", "draws": 1000}, output=tmp_path / "out", cluster="serial")
    (share,) = results.summary["estimate"]
    assert abs(share - 0.5) < 5 * 0.5 / 1000**0.5
    assert results.summary["n"].tolist() == [1000]
'''

#: Lines of the map in CONTRIBUTING.md below which the folders of a new kind are added.
_TASKS_FOLDER = "      significance           the same for tables of counts\n"
_FLOWS_FOLDER = "      significance/    the same; tables/: the tables of counts and scores\n"

KIND = Part(
    pattern=r"[a-z][a-z0-9]*",
    example="coin",
    files={
        "flows/NAME/__init__.py": '"""TITLE: a kind of study."""\n',
        "flows/NAME/plan.py": _KIND_MODEL,
        "tasks/NAME/__init__.py": '"""TITLE: its fan-out and its analysis."""\n',
        "tasks/NAME/draws.py": _KIND_FAN_OUT,
        "tasks/NAME/rates.py": _KIND_ANALYSIS,
        "configs/studies/NAME.toml": '# TITLE: what does it show?\nkind = "NAME"\nseed = 1\ndraws = 100\n',
        "tests/flows/NAME/__init__.py": "",
        "tests/flows/NAME/test_NAME.py": _KIND_TEST,
    },
    entries=[
        ("flows/kinds.py", "KINDS = {\n", 'KINDS = {\n    "NAME": "sigstats.flows.NAME.plan",\n'),
        ("pyproject.toml", '"benchmark | ', '"benchmark | NAME | '),
        ("CONTRIBUTING.md", _TASKS_FOLDER, f"{_TASKS_FOLDER}      NAME/  TITLE: a kind of study\n"),
        ("CONTRIBUTING.md", _FLOWS_FOLDER, f"{_FLOWS_FOLDER}      NAME/  TITLE: its study file and its plan\n"),
        ("tasks/fan_out.py", "FAN_OUTS = {\n", 'FAN_OUTS = {\n    "NAME": "sigstats.tasks.NAME.draws:FAN_OUT",\n'),
        ("docs/seeds.md", "`study: calibration`", "`study: calibration`, `study: NAME`"),
    ],
    left=[
        "flows/NAME/plan.py: the keys of its study file, and its cells",
        "tasks/NAME/: what a block computes and stores, and the rows of the summary",
        "flows/NAME/report/page.py: a `PAGE` with its sections and figures, named in its `KIND`",
        "docs/study-files.md and docs/results.md are made; a page of docs/ says when to use it",
    ],
)
