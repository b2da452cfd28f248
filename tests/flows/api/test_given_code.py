"""What only a notebook has runs, and is stored with the study: frames, classes, pipelines and functions."""

import linecache
import re
import types

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import sigstats
from sigstats.flows.running.from_python import content_of

from ..conftest import python, results

IRIS = load_iris(as_frame=True).frame.rename(columns=lambda name: name.replace(" (cm)", ""))
STUDY = {"kind": "benchmark", "name": "notebook", "cross_validation": {"folds": 2}, "tests": ["mcnemar"]}

NOTEBOOK = '''
import sys
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
import sigstats
LABELS = np.unique

def nearest(X, means):
    return ((X[:, None] - means) ** 2).sum(axis=2).argmin(axis=1)

class NearestMean(ClassifierMixin, BaseEstimator):
    """A class of a notebook, with a function and a name of it."""
    def __init__(self, shrink=0.0):
        self.shrink = shrink
    def fit(self, X, y):
        self.classes_ = LABELS(y)
        means = np.array([X[y == label].mean(axis=0) for label in self.classes_])
        self.means_ = (1 - self.shrink) * means + self.shrink * X.mean(axis=0)
        return self
    def predict(self, X):
        return self.classes_[nearest(X, self.means_)]

def run(output, **options):
    study = {"kind": "benchmark", "name": "n", "datasets": ["iris"], "tests": ["mcnemar"],
             "classifiers": ["lda", NearestMean, {"name": "shrunk", "learner": NearestMean(shrink=0.5)}]}
    found = sigstats.run_study(study, output=output, **options)
    return found.predictions(dataset="iris", classifier="shrunk")["prediction"].tolist()
'''


def notebook(text=NOTEBOOK, cell="<cell 1>"):
    """A module whose source only `linecache` has, as a cell of a notebook."""
    module = types.ModuleType("__main__")
    linecache.cache[cell] = (len(text), None, text.splitlines(keepends=True), cell)
    exec(compile(text, cell, "exec"), vars(module))
    return module


@pytest.mark.long
@pytest.mark.parametrize("frame", [IRIS, pl.from_pandas(IRIS), pl.from_pandas(IRIS).to_arrow()])
def test_a_frame_is_a_data_set_by_its_content(frame, tmp_path):
    IRIS.to_parquet(tmp_path / "mine.parquet", index=False)
    table = {"name": "mine", "target": "target", "nominal": ["target"]}
    file = {"source": "parquet", "path": tmp_path / "mine.parquet"}
    study = {**STUDY, "classifiers": ["lda", "1-nn"]}
    found, read = (
        sigstats.run_study({**study, "datasets": [{**table, **of}]}, output=tmp_path / name, cluster="serial")
        for name, of in (("frame", {"path": frame}), ("file", file))
    )
    one, other = (
        each.predictions(dataset="mine", classifier="lda").astype(str).to_numpy().tolist() for each in (found, read)
    )
    assert one == other
    assert "memory://sigstats/" in (tmp_path / "frame" / "study.json").read_text(encoding="utf-8")
    changed = {**table, "path": pd.DataFrame(IRIS).assign(target=IRIS["target"] % 2)}
    with pytest.raises(ValueError, match="mine"):  # another content is another study
        sigstats.run_study({**study, "datasets": [changed]}, output=tmp_path / "frame")


@pytest.mark.parametrize(
    ("frame", "said"),
    [
        (
            IRIS.assign(target=np.where(IRIS["target"] > 0, IRIS["target"], np.nan)),
            r"data frame my_flowers, row 0 .*class",
        ),
        (IRIS[:0], r"data frame my_flowers: has no rows"),
        (IRIS.iloc[:, [0, 0, 4]], r"datasets\.1\.path: .* is not valid; expected .* columns have different names"),
        (IRIS.to_dict("list"), r"datasets\.1\.path: .* is not valid; expected a file, or a data frame"),
        (IRIS.to_numpy(), r"datasets\.1\.path: .* is not valid; expected a file, or a data frame"),
    ],
)
def test_a_frame_that_is_no_data_set_is_named(frame, said, tmp_path):
    wrong = {"name": "my flowers", "path": frame, "target": "target"}
    study = {**STUDY, "classifiers": ["lda", "1-nn"], "datasets": ["wine", wrong]}
    with pytest.raises(ValueError, match=said):
        sigstats.run_study(study, output=tmp_path / "out", cluster="serial")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("way", [pd.DataFrame, pl.from_pandas])
def test_a_frame_of_this_program_is_a_population_with_the_bytes_of_its_file(tmp_path, way):
    rng = np.random.default_rng(1)
    label = np.where(rng.random(300) < 0.4, "yes", "no")
    frame = pd.DataFrame(
        {"label": label, "a": np.where(rng.random(300) < 0.8, label, "no"), "b": rng.permutation(label)}
    )
    frame.to_parquet(tmp_path / "rows.parquet")
    study = {"kind": "calibration", "sizes": [40], "trials": 20, "tests": [{"test": "mcnemar"}]}
    of_file = {"name": "rows", "source": "parquet", "path": tmp_path / "rows.parquet", "a": "a", "b": "b"}
    of_frame = {"name": "rows", "path": way(frame), "a": "a", "b": "b"}
    for name, population in (("file", of_file), ("frame", of_frame)):
        sigstats.run_study({**study, "populations": [population]}, output=tmp_path / name, cluster="serial")
    one, other = results(tmp_path / "frame"), results(tmp_path / "file")
    assert {name: one[name] for name in one if name != "report.html"} == {
        name: other[name] for name in other if name != "report.html"
    }


@pytest.mark.long
def test_pipelines_and_functions_of_this_program_run(tmp_path):
    pipe = make_pipeline(StandardScaler(), DecisionTreeClassifier(max_depth=2))
    study = {**STUDY, "datasets": ["iris"], "classifiers": [DummyClassifier(), {"name": "pipe", "learner": pipe}]}
    found = sigstats.run_study(study, output=tmp_path / "out", cluster="serial")
    assert set(found.summary["a"]) | set(found.summary["b"]) == {"DummyClassifier", "pipe"}
    (stored,) = (tmp_path / "out" / "code").iterdir()
    assert "cloudpickle" in stored.read_text(encoding="utf-8")

    def sign_test(labels, a, b):
        return 0.5 if np.sum(a == labels) > np.sum(b == labels) else 1.0

    population = {"name": "p", "source": "sturm", "classes": 3, "right": [0.3]}
    calibration = {"kind": "calibration", "sizes": [20], "trials": 20, "populations": [population]}
    found = sigstats.run_study(
        {**calibration, "tests": [{"test": sign_test}]}, output=tmp_path / "calibration", cluster="serial"
    )
    assert len(found.summary)


@pytest.mark.long
@pytest.mark.processes
def test_a_class_of_a_notebook_is_the_same_in_every_session_and_engine(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(NOTEBOOK + "\nif __name__ == '__main__':\n    print(run(sys.argv[1], **eval(sys.argv[2])))")
    said = []
    for output, options in (("serial", "{'cluster': 'serial'}"), ("serial", "{}"), ("local", "{'workers': 1}")):
        done = python(program, tmp_path / output, options, check=True)
        assert "computed again" not in done.stderr
        said.append(done.stdout)
    assert len(set(said)) == 1
    assert results(tmp_path / "serial") == results(tmp_path / "local")


@pytest.mark.long
@pytest.mark.processes
def test_other_workers_are_sent_code_only_where_it_is_allowed(tmp_path):
    code = NOTEBOOK + (
        "\nfrom distributed import LocalCluster\n"
        "if __name__ == '__main__':\n"
        "    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster:\n"
        "        try:\n            run(sys.argv[1], cluster=cluster)\n"
        "        except ValueError as error:\n            print(error)\n"
        "        there = run(sys.argv[1], cluster=cluster, allow=['__main__'])\n"
        "        print(there == run(sys.argv[1] + '-here', cluster='serial'))"
    )
    path = tmp_path / "notebook.py"
    path.write_text(code, encoding="utf-8")
    done = python(path, tmp_path / "out", check=True)
    refused, same = done.stdout.splitlines()
    assert refused.startswith("study: code of this program is not sent")
    assert 'allow=["__main__"]' in refused
    assert same == "True"
    assert results(tmp_path / "out") == results(tmp_path / "out-here")


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ("import sys", "import sys, json\n\n# moved", True),
        ("def run(", "class Second(NearestMean):\n    depth = 2\n\ndef run(", True),
        (".argmin(axis=1)", ".argmax(axis=1)", False),
        ("LABELS = np.unique", "LABELS = np.sort", False),
        ("shrink=0.0", "shrink=0.1", False),
    ],
)
def test_code_of_a_notebook_is_identified_by_its_source(old, new, same):
    assert old in NOTEBOOK
    one, other = notebook(), notebook(NOTEBOOK.replace(old, new), "<cell 2>")
    assert (content_of(one.NearestMean) == content_of(other.NearestMean)) is same
    pipes = [make_pipeline(StandardScaler(), module.NearestMean(shrink=0.5)) for module in (one, other)]
    assert (content_of(pipes[0]) == content_of(pipes[1])) is same


@pytest.mark.long
def test_a_class_joins_a_finished_study_whatever_file_it_stands_in(tmp_path, monkeypatch, capsys):
    code = NOTEBOOK.partition("def run(")[0]
    changed = code.replace("argmin", "argmax")
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "later_h").mkdir()
    for name, text in (("first_h", code), ("later_h/moved", code), ("later_h/other", changed)):
        (tmp_path / f"{name}.py").write_text(text)

    def made_again(learner, name="mine", **params):
        own = {"name": name, "learner": learner, "params": params}
        study = {**STUDY, "datasets": ["iris"], "classifiers": ["lda", own if name else learner]}
        options = {"output": tmp_path / "out", "cluster": "serial", "allow": ["first_h", "later_h"], "quiet": False}
        sigstats.run_study(study, **options)
        return re.findall("computed again: mine, since (.*)", capsys.readouterr().err)

    def cells():
        return sorted(path.name.rpartition(".")[0] for path in (tmp_path / "out/replicates").iterdir())

    assert made_again("first_h:NearestMean") == []
    assert made_again("later_h.moved:NearestMean") == []
    assert cells() == ["crossval.iris.lda", "crossval.iris.mine"]
    assert made_again("later_h.other:NearestMean") == ["the source of later_h has changed"]
    assert made_again(notebook(code).NearestMean) == ["its source has changed"]  # identified by its values too
    assert made_again(notebook(changed, "<cell 2>").NearestMean) == ["its source has changed"]
    assert cells() == ["crossval.iris.lda", *["crossval.iris.mine"] * 4]
    with pytest.raises(ValueError, match=r"contains another study.* would change 1 stored cell, cross-validation of"):
        made_again(notebook(code).NearestMean, shrink=0.5)
    with pytest.raises(ValueError, match=r"contains another study.* would lose 1 stored cell, cross-validation of"):
        made_again("first_h:NearestMean", name="another")
    made_again("first_h:NearestMean")
    for path in ("first_h:NearestMean", "later_h.moved:NearestMean"):  # without a name, the path is the name
        made_again(path, name="")


def test_parameters_and_values_around_code_identify_it_too():
    one = notebook()
    assert content_of(one.NearestMean(shrink=0.1)) != content_of(one.NearestMean(shrink=0.2))
    of = [(lambda n: lambda labels, a, b: n * a)(n) for n in (1, 1, 2)]
    assert content_of(of[0]) == content_of(of[1]) != content_of(of[2])
    looped = []
    looped.append(looped)
    assert content_of(looped) == content_of(looped)


def test_code_without_a_source_is_refused_in_one_line(tmp_path):
    module = types.ModuleType("__main__")
    exec(NOTEBOOK, vars(module))
    study = {**STUDY, "datasets": ["iris"], "classifiers": ["lda", module.NearestMean]}
    said = r"NearestMean cannot be sent to a process: .*NearestMean has no source; define it in a file or"
    with pytest.raises(ValueError, match=said) as refused:
        sigstats.run_study(study, output=tmp_path / "out", cluster="serial")
    assert "\n" not in str(refused.value)
    assert not (tmp_path / "out").exists()


BARE = """
def even_test(y, a, b):
    return 1.0

class Bare:
    def fit(self, X, y):
        return self
    def predict(self, X):
        return X[:, 0] * 0
"""


@pytest.mark.long
def test_objects_of_a_notebook_are_called_by_their_names(tmp_path):
    module = notebook(BARE, "<bare>")
    population = {"name": "p", "source": "sturm", "classes": 10, "right": [0.1]}
    study = {"kind": "calibration", "name": "own", "sizes": [20], "trials": 50, "populations": [population]}
    result = sigstats.run_study(
        {**study, "tests": [module.even_test]}, output=tmp_path / "out", cluster="serial", quiet=True
    )
    assert result.summary["method"].tolist() == ["even_test"]
    assert result.summary["estimate"].tolist() == [0.0]
    for classifier in (module.Bare, {"name": "n", "learner": module.Bare}):
        with pytest.raises(ValueError, match=r"^study: classifier: 'Bare' .*it has no get_params \(sklearn.base.BaseE"):
            sigstats.run_study(
                {**STUDY, "datasets": ["iris"], "classifiers": ["lda", classifier]}, output=tmp_path / "no"
            )
