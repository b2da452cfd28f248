"""A study from Python: what is run, what is read, and what is refused."""

import json

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from sklearn.datasets import load_iris

import sigstats
from sigstats.flows.commands import main

from ..conftest import python, results, study_file

STUDY = {
    "kind": "benchmark",
    "name": "study",
    "seed": 3,
    "datasets": ["iris"],
    "classifiers": ["1-nn", "naive-bayes"],
    "permutation": {"nulls": ["labels"], "resamples": np.int64(39)},
}
TOML = """\
kind = "benchmark"
seed = 3
datasets = ["iris"]
classifiers = ["1-nn", "naive-bayes"]
permutation = {nulls = ["labels"], resamples = 39}
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """The results of a small benchmark study."""
    return sigstats.run_study(STUDY, output=tmp_path_factory.mktemp("run") / "out", cluster="serial")


def test_the_bytes_are_those_of_the_command(found, tmp_path):
    path = study_file(tmp_path, TOML, name="study.toml")
    again = sigstats.run_study(path, output=tmp_path / "file", cluster="serial")
    assert results(again.output) == results(found.output)
    assert main(["run", str(path), "--output", str(tmp_path / "file"), "--cluster", "serial", "--quiet"]) == 0
    assert results(tmp_path / "file") == results(found.output)


def test_estimators_and_values_of_numpy_are_what_a_study_file_would_say(tmp_path):
    from sklearn.tree import DecisionTreeClassifier

    tree = {"name": "DecisionTreeClassifier", "learner": "sklearn.tree.DecisionTreeClassifier"}
    said = {**STUDY, "classifiers": [{**tree, "params": {"max_depth": 2}}]}
    ran = [
        sigstats.run_study(study, output=tmp_path / name, cluster="serial")
        for name, study in (
            ("named", said),
            (
                "made",
                {
                    **said,
                    "datasets": np.array(["iris"]),
                    "classifiers": [DecisionTreeClassifier(max_depth=np.int64(2))],
                },
            ),
        )
    ]
    assert results(ran[0].output) == results(ran[1].output)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        (
            "datasets",
            load_iris(as_frame=True).frame,
            r"^study: datasets: a data frame .*\"path\": frame, .*\.to_parquet\(",
        ),
        ("datasets", [{"name": "mine", "data": load_iris(as_frame=True).data}], r"^study: datasets\.0\.data: a data"),
        ("datasets", [{"name": "mine", "X": [[1]]}], "^study: datasets.0: source is missing; .* a data frame as in {"),
        ("datasets", [(np.eye(3), [0, 1, 1])], "^study: datasets.0: an array is not valid; expected a data frame, {"),
        ("classifiers", [3], "^study: classifiers.0: 3 is not valid; expected a name, a function, or an object with"),
        ("classifiers", [lambda: None], r"^study: classifier: 'given' is not valid; .*it is a function"),
        ("seed", max, "^study: seed: max is not valid; expected a string, a number or a table$"),
        ("seed", [3], "^study: seed: \\[3\\] is not valid; expected a whole number$"),
    ],
)
def test_what_this_program_alone_knows_is_one_line_that_says_how_to_bring_it(key, value, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        sigstats.run_study({**STUDY, key: value}, output=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_predictions_are_those_of_scikit_learn(found):
    from sklearn.naive_bayes import GaussianNB

    iris = load_iris()
    ours = found.predictions(dataset="iris", classifier="naive-bayes")
    assert ours["row"].tolist() == list(range(150))
    assert ours["label"].tolist() == iris.target_names[iris.target].tolist()
    fold = ours["fold"].to_numpy()
    theirs = np.empty(150, dtype=object)
    for each in np.unique(fold):
        model = GaussianNB().fit(iris.data[fold != each], iris.target[fold != each])
        theirs[fold == each] = iris.target_names[model.predict(iris.data[fold == each])]
    assert ours["prediction"].tolist() == theirs.tolist()


def test_the_summary_follows_from_the_replicates(found):
    summary = found.summary[found.summary["test"] == "permutation-labels"].set_index("classifier")
    for name in ("1-nn", "naive-bayes"):
        replicates = found.replicates(fanout="retrain", classifier=name)
        assert replicates["replicate"].tolist() == list(range(39))
        predicted = found.predictions(classifier=name)
        wrong = int((predicted["label"] != predicted["prediction"]).sum())
        assert summary.loc[name, "p_value"] == (int((replicates["wrong"] <= wrong).sum()) + 1) / 40
    assert found.cells["complete"].all()
    assert set(found.cells["fanout"]) == {"crossval", "retrain"}
    assert found.study["classifiers"] == STUDY["classifiers"]
    assert "permutation-labels" in found._repr_html_()


@pytest.mark.parametrize(
    ("call", "line"),
    [
        (lambda r: r.replicates(), "fanout: there are crossval, retrain; expected one of them"),
        (
            lambda r: r.replicates(dataset="irs"),
            "dataset: 'irs' is not valid; expected one of iris .did you mean 'iris'",
        ),
        (lambda r: r.replicates(colour="red"), "colour: 'red' is not valid; expected one of no values"),
        (
            lambda r: r.predictions(classifier="svm"),
            "classifier: 'svm' is not valid; expected one of 1-nn, naive-bayes",
        ),
    ],
)
def test_what_is_not_there_is_named(found, call, line):
    with pytest.raises(ValueError, match=line):
        call(found)


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ({"study": {**STUDY, "classifiers": ["1-mm"]}}, "1-mm"),
        ({"study": {**STUDY, "seeds": 1}}, "did you mean 'seed'"),
        ({"study": 5}, "study: 5 is not valid; expected the path or the content of a study file"),
        ({"study": "nosuch.toml"}, "nosuch.toml"),
        (
            {"study": {"kind": "regression", "baseline": "a.csv", "candidate": "b*.csv"}, "workers": 2},
            "workers: 2 is not valid: a regression study has no workers; remove it",
        ),
        ({"output": ""}, "output: '' is not valid; expected a folder"),
        ({"output": None}, "output: None is not valid"),
        ({"cluster": "seriol"}, "^cluster: 'seriol' is not valid; .*did you mean 'serial'"),
        ({"cluster": "serial", "workers": 2}, "^workers: 2 is not valid"),
        ({"workers": 0}, "^cluster: workers: 0 is not valid"),
        ({"cluster": "local", "workers": 0}, "^cluster: workers: 0 is not valid"),
        ({"cluster": 4}, "cluster: 4 is not valid; expected the name of a kind, an address, a cluster file"),
        ({"allow": None}, "allow: None is not valid; expected a list of names of packages"),
        ({"quiet": "no"}, "quiet: 'no' is not valid; expected True, False or None"),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_written(tmp_path, arguments, line):
    with pytest.raises(ValueError, match=line) as error:
        sigstats.run_study(**{"study": STUDY, "output": tmp_path / "out", **arguments})
    assert "\n" not in str(error.value)
    assert list(tmp_path.iterdir()) == []


def test_a_regression_study_is_evaluated_as_by_the_command(tmp_path):
    for name, right in (("old", 30), ("new", 20)):
        lines = [f"{row},1,{int(row < right)}" for row in range(40)] + [f"{row},0,0" for row in range(40, 80)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["id,label,prediction", *lines]))
    study = {"kind": "regression", "baseline": str(tmp_path / "old.csv"), "candidate": str(tmp_path / "new.csv")}
    ran = sigstats.run_study({**study, "measures": ["accuracy"]}, output=tmp_path / "out")
    file = tmp_path / "nightly.toml"
    file.write_text("\n".join([*(f'{key} = "{value}"' for key, value in study.items()), 'measures = ["accuracy"]']))
    assert main(["run", str(file), "--output", str(tmp_path / "other"), "--quiet"]) == 1
    other = sigstats.open_results(tmp_path / "other")
    assert ran.verdict == other.verdict == "fail"
    assert ran.summary.equals(other.summary)
    assert ran.summary["difference"].tolist() == [-0.125]
    again = sigstats.run_study({**study, "measures": ["accuracy"]}, output=tmp_path / "out")
    assert again.summary.equals(ran.summary)
    assert len(list((tmp_path / "out/history").rglob("*.parquet"))) == 1
    assert ran.cells.empty
    assert ran.plot.names == ("forest",)
    ax = Axes(Figure(), (0, 0, 1, 1))
    ran.plot.forest(ax)
    assert ax.lines[0].get_xdata() == [-0.125]
    ends = ran.summary[["low", "high"]].to_numpy()
    assert ax.collections[0].get_segments()[0][:, 0].tolist() == ends[0].tolist()


def test_an_output_without_results_is_refused(tmp_path):
    for place in (tmp_path, tmp_path / "nosuch"):
        with pytest.raises(ValueError, match="is not valid; expected the output of a study"):
            sigstats.open_results(place)
    (tmp_path / "plan.parquet").write_bytes(b"PAR1 no")
    with pytest.raises(ValueError, match=r"output: .* cannot be read"):
        sigstats.open_results(tmp_path)


@pytest.mark.long
@pytest.mark.processes
def test_a_script_without_a_guard_runs_once_on_local_workers(tmp_path):
    # Worker processes import the main module of who starts them: each would run the study again.
    script, study = tmp_path / "script.py", json.dumps(STUDY, default=int)
    script.write_text(
        "import sigstats\nprint('started')\n"
        f"found = sigstats.run_study({study}, output={str(tmp_path / 'out')!r}, cluster='local', workers=1)\n"
        "print(found.summary['decision'].tolist(), __file__)\n"
    )
    done = python(script, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("started") == 1
    assert done.stdout.rstrip().endswith(str(script))
