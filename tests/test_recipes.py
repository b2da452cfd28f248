"""CONTRIBUTING's recipes: a new thing is a new file, and an entry where a list names it.

Each test writes such files into a copy of the package and runs the program of that copy.
"""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pyarrow.parquet as pq
import pytest

from sigstats.flows.kinds import KINDS
from tools import new

from .flows.conftest import environment

pytestmark = pytest.mark.processes

ROOT = Path(__file__).parents[1]

LEARNER = """"majority": lambda params, nominal, missing: attempt(
        __import__("sklearn.dummy").dummy.DummyClassifier, {"strategy": "most_frequent", **params}
    )"""

ANALYSIS = '''
"""How many rows are right."""
from sigstats.tasks.schema import Hypothesis
from sigstats.tasks.benchmark.runs import observed_run

def rows(results, name):
    for cell in results.cells("crossval"):
        run = observed_run(results, cell)
        yield Hypothesis(study=results.plan.study, cell=cell.name, test=name, method="counted",
                         alternative="none", null_hypothesis="none: rows are counted", n=run.n,
                         estimate=float(run.right.sum()), **cell.subject)
'''

SECTION = '''
"""How many rows are right, in words."""
from sigstats.flows.report.evidence import Section, Verdict
from sigstats.flows.report import usual_columns as usual

def verdict(rows, evidence):
    return Verdict(f"The majority is right on {rows[0].estimate:.0f} of {rows[0].n} points of the ring.")

SECTIONS = (Section(order=5, test="rows-right", name="Rows right", question="How many?", verdict=verdict,
                  columns=(usual.DATASET,), method="They are counted."),)
'''

CLUSTER = '''
"""Dask's cluster of this machine, with a site's own name."""
from distributed import LocalCluster

class SiteCluster(LocalCluster):
    pass
'''

CLUSTER_FILE = """
class = "mysite.SiteCluster"
workers = 1
n_workers = 0
threads_per_worker = 1
dashboard_address = "127.0.0.1:0"
"""

TABLE_TEST = '''
"""Are as many signs positive as negative?"""
from scipy.stats import binomtest
from sigstats.tasks.statistical_tests import OfTable, StatisticalTest

def observed(data):
    return {"n": data["plus"] + data["minus"], "measure": "signs", "alternative": "two-sided"}

def evaluate(data, method):
    p = float(binomtest(data["plus"], data["plus"] + data["minus"]).pvalue)
    return {"method": method, "p_value": p, "p_low": p, "p_high": p, "statistic": float(data["plus"])}

TEST = StatisticalTest(label="Signs", question="Are as many positive?", null="both signs are equally likely",
                       words="They are counted.", source="", claim="one sign is likelier",
                       table=OfTable(methods=("exact",), observed=observed, evaluate=evaluate))
'''

TABLE = '''
"""``[[signs]]``: how many are positive and negative."""
from typing import ClassVar
from sigstats.flows.significance.tables import Case, Entry

class Signs(Entry):
    TEST: ClassVar[str] = "signs"
    ORDER: ClassVar[int] = 99
    methods: tuple[str, ...] = ("exact",)
    plus: int
    minus: int

    def cases(self, base):
        data = {"plus": self.plus, "minus": self.minus}
        yield Case(subject={"dataset": self.name}, test=self.TEST, data=data, printed=self)

ENTRIES = {"signs": Signs}
'''

COMMAND = '''
"""Say something.

What is said is the word.
"""

GROUP = "studies"

def add_arguments(parser):
    parser.add_argument("word")

def run(options):
    print(options.word)
    return 0
'''

FORMAT = '''
"""Answers that are marked with a plus or a minus."""
import re

from sigstats.files.predictions import Answer, EvaluationLog

ORDER = 1
NAME = "marks"

BEGINS = re.compile(b"marks:")

def read(content, columns):
    marks = content.whole().decode().split()[1:]
    answers = [Answer(item=str(i), scores={"mark": float(mark == "+")}) for i, mark in enumerate(marks)]
    return EvaluationLog(where=content.where, harness=NAME, answers=answers, task="recipe")
'''


@pytest.fixture
def copy(tmp_path, monkeypatch):
    """A copy of the package, into which `tools.new` writes."""
    for layer in ("sigstats", "tasks", "flows"):
        shutil.copytree(ROOT / layer, tmp_path / "checkout" / layer, symlinks=True)
    (tmp_path / "checkout" / "docs").mkdir()
    for name in ("pyproject.toml", "CONTRIBUTING.md", "docs/seeds.md"):
        shutil.copy(ROOT / name, tmp_path / "checkout" / name)
    monkeypatch.setattr(new, "ROOT", tmp_path / "checkout")
    monkeypatch.setattr(new, "_finish", lambda *folders: None)
    return tmp_path / "checkout"


@pytest.fixture
def program(copy, tmp_path):
    """Writes new files into the copy, and entries after the start of a list or a line; runs the program of the copy."""

    def run(files, *arguments):
        for name, text in files.items():
            if isinstance(text, str):
                assert not (copy / name).exists()
                (copy / name).write_text(text)
            for start, entry in [text] if isinstance(text, tuple) else [] if isinstance(text, str) else text:
                before = (copy / name).read_text()
                assert before.count(start) == 1
                (copy / name).write_text(before.replace(start, f"{start}\n    {entry},"))
        return subprocess.run(
            [sys.executable, "-m", "sigstats", *map(str, arguments)],
            cwd=tmp_path, env={**environment(), "PYTHONPATH": str(copy)}, capture_output=True, text=True, check=False,
        )  # fmt: skip

    return run


def study(tmp_path, text):
    (tmp_path / "study.toml").write_text(dedent(text))
    return "study.toml"


def summary(tmp_path):
    return pq.read_table(tmp_path / "out" / "summary.parquet").to_pylist()


def test_a_second_part_of_each_kind_is_written_as_the_first(copy):
    for name in ("docs", "tools"):
        ignored = shutil.ignore_patterns("_build", "gallery", "*.png")
        shutil.copytree(ROOT / name, copy / name, ignore=ignored, dirs_exist_ok=True)
    (copy / "tests" / "sigstats").mkdir(parents=True)
    shutil.copy(ROOT / "tests" / "sigstats" / "test_public_fuzz.py", copy / "tests" / "sigstats")
    for place in ("a", "z"):  # a list may be sorted
        new.write_test(f"{place}_recipe_test")
        for kind, name in (("measure", "recipe"), ("reader", "_recipe"), ("figure", "_recipe"), ("kind", "recipe")):
            new.write_part(kind, f"{place}{name}")
    assert '"source": "z-recipe"' in (copy / "tests" / "tasks" / "datasets" / "test_z_recipe.py").read_text()
    assert (copy / "CONTRIBUTING.md").read_text().count("arecipe/") == 2


@pytest.mark.long
def test_sources_and_figures_are_written_and_learners_analyses_and_sections_are_entries(tmp_path, program):
    text = """
        kind = "benchmark"
        datasets = [{name = "ring", source = "recipe-ring"}]
        classifiers = ["majority"]
        tests = ["rows-right", "efficiency"]
        permutation.resamples = 19
    """
    files = {
        "sigstats/learners/ready.py": ("READY: Mapping[str, Build] = {", LEARNER),
        "tasks/benchmark/rows_right.py": ANALYSIS,
        "flows/benchmark/plan.py": ("analyses={", '    "rows-right": "sigstats.tasks.benchmark.rows_right:rows"'),
        "flows/benchmark/model.py": ("_READS = {", '"rows-right": ("crossval",)'),
        "flows/benchmark/report/rows_right.py": SECTION,
        "flows/benchmark/report/page.py": (
            "    sections=(",
            '    "sigstats.flows.benchmark.report.rows_right"',
        ),
    }
    new.write_part("reader", "recipe_ring")  # names that a contributor, who may take the examples, leaves free
    new.write_part("figure", "recipe_p_values")
    done = program(files, "run", study(tmp_path, text), "--output", "out", "--cluster", "serial", "--quiet")
    assert done.returncode == 0, done.stderr
    row = next(row for row in summary(tmp_path) if row["test"] == "rows-right")
    assert (row["dataset"], row["classifier"], row["n"]) == ("ring", "majority", 40)
    page = (tmp_path / "out" / "report.html").read_text()
    assert f"The majority is right on {row['estimate']:.0f} of 40 points of the ring." in page
    assert "Recipe p values" in page


@pytest.mark.long
def test_a_cluster_is_a_class_and_a_file_that_names_it(tmp_path, program):
    text = 'kind = "benchmark"\ndatasets = ["iris"]\nclassifiers = ["ridge"]\npermutation.resamples = 19\n'
    (tmp_path / "mysite.py").write_text(CLUSTER)
    (tmp_path / "site.toml").write_text(CLUSTER_FILE)
    words = ("run", study(tmp_path, text), "--output", "out", "--cluster", "site.toml", "--allow", "mysite", "--quiet")
    done = program({}, *words)
    assert done.returncode == 0, done.stderr
    assert len(summary(tmp_path)) > 0


@pytest.mark.long
def test_a_test_of_a_table_and_its_key_are_a_file_and_an_entry_each(tmp_path, program):
    files = {
        "tasks/statistical_tests/signs.py": TABLE_TEST,
        "tasks/statistical_tests/__init__.py": ("TESTS = (", '"signs"'),
        "flows/significance/tables/signs.py": TABLE,
        "flows/significance/tables/__init__.py": ("_MODULES = (", '"signs"'),
    }
    text = 'kind = "significance"\n[[signs]]\nname = "nine of ten"\nplus = 9\nminus = 1\n'
    done = program(files, "run", study(tmp_path, text), "--output", "out", "--quiet")
    assert done.returncode == 0, done.stderr
    (row,) = summary(tmp_path)
    assert (row["test"], row["p_value"]) == ("signs", 22 / 1024)


@pytest.mark.long
def test_a_kind_of_study_is_written_with_its_fan_out_and_its_analysis(tmp_path, program):
    new.write_part("kind", "recipe")
    path = study(tmp_path, 'kind = "recipe"\ndraws = 1000\n')
    planned = program({}, "plan", path)
    assert planned.returncode == 0, planned.stderr
    assert "1,000" in planned.stdout
    done = program({}, "run", path, "--output", "out", "--cluster", "serial", "--quiet")
    assert done.returncode == 0, done.stderr
    (row,) = summary(tmp_path)
    assert abs(row["estimate"] - 0.5) < 5 * 0.5 / 1000**0.5
    assert "recipe" in (tmp_path / "out" / "report.html").read_text()
    wrong = program({}, "run", study(tmp_path, 'kind = "recipe"\ndraw = 5\n'), "--output", "out2")
    assert (wrong.returncode, "did you mean 'draws'?" in wrong.stderr) == (2, True)
    schema = json.loads(program({}, "schema").stdout)
    assert "RecipeStudy" in schema["$defs"]


def test_a_command_is_a_file(program):
    done = program({"flows/commands/say.py": COMMAND}, "say", "hello")
    assert (done.returncode, done.stdout) == (0, "hello\n")
    assert re.search(r"say +say something", program({}, "--help").stdout)


@pytest.mark.long
def test_a_format_of_predictions_is_a_file(tmp_path, program):
    (tmp_path / "a.marks").write_text("marks: + + - + - + - + + + - +")
    (tmp_path / "b.marks").write_text("marks: - - - + - + - - - + - -")
    done = program(
        {"sigstats/files/predictions/readers/marks.py": FORMAT}, "compare", "a.marks", "b.marks", "--json", "out.json"
    )
    assert done.returncode == 1, done.stderr
    (row,) = json.loads((tmp_path / "out.json").read_text())["rows"]
    assert row["p_worse"] == pytest.approx(1 / 2**5)


def test_the_map_has_a_line_for_every_room():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rooms, layer = {}, None
    for line in text[text.index("## The rooms") : text.index("## Recipes")].splitlines():
        if found := re.match(r"    (\w+)/  ", line):
            layer = found[1]
        elif found := re.match(r"      (?:[\w, ]*, )?(\w+)/", line):
            rooms.setdefault(layer, []).append(found[1])
    for layer in ("sigstats", "tasks", "flows"):
        # Git leaves the caches of a folder that a change has removed.
        held = {path.parent for path in (ROOT / layer).glob("*/*") if path.name != "__pycache__"}
        there = {path.name for path in held} - {"__pycache__"}
        assert sorted(rooms[layer]) == sorted(there - rooms.keys())  # two layers are links in the first


def test_the_recipes_name_rooms_that_are_there():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    recipes = text[text.index("## Recipes") : text.index("## Habits")]
    named = set(re.findall(r"`((?:sigstats|tasks|flows|configs)/[\w./-]*?)(?:<[^`]*)?`", recipes))
    assert len(named) > 10
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []
    assert "benchmark" in KINDS
