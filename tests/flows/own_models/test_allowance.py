"""Which classifiers of other packages a study may name, and what their code is to its cells."""

import re
import sys
import warnings
from dataclasses import replace
from importlib.metadata import EntryPoint

import numpy as np
import pytest
from pydantic import TypeAdapter
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

import sigstats
from sigstats._common import registry, source
from sigstats._common.source import source_of
from sigstats.flows.calibration.plan import KIND
from sigstats.flows.commands import main
from sigstats.flows.config.settings import DatasetTable
from sigstats.flows.errors import BadInput
from sigstats.flows.running.kind import parse_study
from sigstats.learners import build, own
from sigstats.measures.measure import as_measure
from sigstats.tasks.calibration import subsample
from sigstats.tasks.datasets import readers
from sigstats.tasks.own_code import OtherCode, build_as_planned, code_of, difference, with_measure_code
from sigstats.tasks.plan import Block
from sigstats.tasks.record import Learner
from sigstats.tasks.storage.store import Store

from .conftest import forget, named, replicates, study_of

NET = "netpackage.models:Net"
ALLOWED = ("sklearn", "netpackage")


def test_nothing_is_imported_that_nobody_allowed(package, tmp_path, program):
    study = study_of(tmp_path, ['"lda"', named("net", NET)])
    for command in ("run", "plan"):
        ended = program(command, study, "--output", tmp_path / "out")
        assert ended.returncode == 2
        last = ended.stderr.strip().splitlines()[-1]
        assert all(part in last for part in (f"sigstats: {study}: classifier: ", NET, "--allow netpackage"))
    assert "netpackage" not in sys.modules
    assert not (tmp_path / "out").exists()


@pytest.mark.long
@pytest.mark.parametrize("how", ["option", "file", "python"])
def test_whoever_runs_a_study_allows_a_package(package, tmp_path, program, how):
    study, output = study_of(tmp_path, [named("net", NET)], nulls=""), tmp_path / "out"
    if how == "python":
        sigstats.run_study(study, output=output, cluster="serial", allow=["netpackage"])
    else:
        cluster = tmp_path / "cluster.toml"
        cluster.write_text('kind = "serial"\nallow = ["netpackage"]\n')
        where = ["--cluster", cluster] if how == "file" else ["--cluster", "serial", "--allow", "netpackage"]
        assert program("run", study, "--output", output, *where).returncode == 0
    assert list(replicates(output)) == ["crossval.few.net"]


@pytest.mark.long
def test_a_classifier_runs_after_a_plan_that_had_no_access_to_it(package, tmp_path):
    """The plan leaves an idle process, which was started before the module of the pipeline existed."""
    study = study_of(tmp_path, [named("net", NET)], nulls="")
    assert main(["plan", str(study), "--output", str(tmp_path / "out"), "--allow", "netpackage"]) == 0
    later = {"kind": "benchmark", "datasets": ["iris"], "classifiers": ["lda", make_pipeline(GaussianNB())]}
    found = sigstats.run_study({**later, "tests": ["mcnemar"]}, output=tmp_path / "later", cluster="serial")
    assert found.cells["complete"].all()


@pytest.mark.parametrize("name", ["netpackage.models", "net-package", "netpackage:Net", ""])
def test_an_allowance_is_the_name_of_a_package(tmp_path, program, name):
    ended = program("run", study_of(tmp_path, ['"lda"']), "--output", tmp_path / "out", "--allow", name)
    assert (ended.returncode, ended.stderr.count("\n")) == (2, 1)
    assert "--allow" in ended.stderr


def test_a_class_and_a_pipeline_are_built(package):
    for path in (NET, "netpackage.models.Net"):
        made = build(path, params={"hidden": 3}, missing=False, allowed=ALLOWED)
        assert (type(made).__name__, made.hidden, made.random_state) == ("Net", 3, 0)
    made = build("netpackage.models:scaled", params={"net__hidden": 4}, missing=False, allowed=ALLOWED)
    assert [type(step).__name__ for step in made] == ["StandardScaler", "Net"]
    assert (made[-1].hidden, made[-1].random_state) == (4, 0)


@pytest.mark.parametrize(
    ("path", "params", "message"),
    [
        ("netpackage.models:Nett", {}, "a classifier class or an unfitted classifier, .* no such name"),
        ("netpackage.models:make_pipeline", {}, "a classifier class or an unfitted classifier, .* it is a function"),
        ("net package:Net", {}, "public names"),
        (":Net", {}, "public names"),
        ("netpackage.models:np", {}, "a classifier class or an unfitted classifier"),
        ("netpackage.models:os.system", {}, "a classifier class or an unfitted classifier"),
        ("netpackage.models:regressor", {}, "takes it for a regressor"),
        ("netpackage.nowhere:Net", {}, "No module named"),
        ("netpackages.models:Net", {}, "No module named 'netpackages' here: .* PYTHONPATH"),
        ("netpackage.models:_one", {}, "public names"),
        ("netpackage.models:", {}, "public names"),
        (NET, {"hiden": 3}, "did you mean 'hidden'"),
        ("netpackage.models:scaled", {"net__hiden": 3}, "hiden"),
        ("netpackage.models:scaled", {"memory": "cache"}, "memory: 'cache' is not valid; expected None"),
        ("netpackage.models:scaled", {"net__memory": "cache"}, "net__memory: 'cache' is not valid"),
        ("netpackage.models:scaled", {"net__n_jobs": 100_000}, "n_jobs: 100000 is not valid; expected at most 256"),
    ],
)
def test_what_is_no_classifier_is_refused_in_one_line(package, path, params, message):
    with pytest.raises(ValueError, match=message) as caught:
        build(path, params=params, allowed=[*ALLOWED, "netpackages"])
    assert "\n" not in str(caught.value)


def test_a_module_that_cannot_be_imported_is_named(package):
    (package / "broken.py").write_text("print('hello')\nraise SystemExit('no\\nGPU')\n")
    with pytest.raises(ValueError, match=r"netpackage\.broken raised SystemExit: no GPU"):
        build("netpackage.broken:Net", allowed=ALLOWED)


@pytest.mark.long
def test_an_entry_point_needs_no_allowance(package, monkeypatch, tmp_path):
    points = {"their-net": [EntryPoint("their-net", NET, own.GROUP)]}
    monkeypatch.setattr(registry, "_points", lambda group: points)
    assert type(build("their-net", missing=False)).__name__ == "Net"
    assert code_of("their-net", ("sklearn",))["package"] == "netpackage"
    with pytest.raises(ValueError, match="did you mean 'their-net'"):
        build("their-ned")


@pytest.fixture
def offers(package, monkeypatch):
    """Lets the package be installed with entry points."""

    def install(group, **points):
        information = package.parent / "netpackage-2.5.dist-info"
        information.mkdir()
        (information / "METADATA").write_text("Metadata-Version: 2.1\nName: netpackage\nVersion: 2.5\n")
        (information / "top_level.txt").write_text("netpackage\n")
        lines = [f"[{group}]", *(f"{name.replace('_', '-')} = {value}" for name, value in points.items())]
        (information / "entry_points.txt").write_text("\n".join(lines) + "\n")
        registry._points.cache_clear()
        source._owners.cache_clear()

    yield install
    monkeypatch.undo()
    registry._points.cache_clear()
    source._owners.cache_clear()


@pytest.mark.long
def test_an_installed_package_offers_learners(tmp_path, offers):
    offers(own.GROUP, their_net=NET)
    assert own.named() == ("their-net",)
    assert code_of("their-net", ())["version"] == "2.5"
    study = study_of(tmp_path, ['"their-net"'], nulls="")
    sigstats.run_study(study, output=tmp_path / "out", cluster="serial")
    assert list(replicates(tmp_path / "out")) == ["crossval.few.their-net"]


def test_a_ready_name_that_a_package_offers_too_is_the_ready_one_and_listed_once(offers):
    offers(f"{own.GROUP}]\n1-nn = {NET}\nlda = {NET}\n[sigstats.measures", f1="netpackage:f1", theirs="netpackage:f2")
    assert type(build("lda")).__module__.startswith(("sigstats", "sklearn"))
    y = [0, 1] * 20
    refusals = (
        (lambda: build("forrest"), ("1-nn", "lda")),
        (lambda: as_measure("f7"), ("f1", "theirs")),
        (lambda: sigstats.compare(y, y, y[::-1], measures=["f7"]), ("macro-f1", "macro-theirs")),
    )
    for refused, names in refusals:
        with pytest.raises(ValueError, match="is not valid") as caught:
            refused()
        listed = re.findall(r"[\w-]+", str(caught.value).partition("one of")[2].partition("(did")[0])
        assert [listed.count(name) for name in names] == [1, 1], str(caught.value)
    assert with_measure_code({"measure": "macro-f1"}) == {"measure": "macro-f1"}  # of which the package has no part


def test_a_package_behind_another_of_its_name_offers_nothing(offers, another, tmp_path, monkeypatch):
    offers(own.GROUP, their_net=NET)
    another("spoilt", "", "[x]\nnet\n")  # entry points are read one package after another
    older = tmp_path / "older" / "NetPackage-1.0.dist-info"
    older.mkdir(parents=True)
    (older / "METADATA").write_text("Metadata-Version: 2.1\nName: NetPackage\nVersion: 1.0\n")
    (older / "entry_points.txt").write_text(
        f"[{own.GROUP}]\ntheir-net = netpackage.old:Net\ngone = netpackage.old:Gone\n"
    )
    monkeypatch.setattr(sys, "path", [*sys.path, str(older.parent)])
    registry._points.cache_clear()
    source._owners.cache_clear()
    assert own.named() == ("their-net",)
    assert own.find("their-net", ()).__name__ == "Net"


@pytest.fixture
def another(package):
    """Installs a module of another package with an entry point; what the module holds is given."""

    def install(name, code, points, encoding="utf-8"):
        (package.parent / f"{name}.py").write_text(code)
        information = package.parent / f"{name}-1.0.dist-info"
        information.mkdir()
        (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (information / "entry_points.txt").write_text(points, encoding=encoding)
        registry._points.cache_clear()
        source._owners.cache_clear()

    return install


def test_a_name_that_two_packages_offer_is_refused(offers, another):
    offers(own.GROUP, their_net=NET, other_net=NET)
    another("second", "", f"[{own.GROUP}]\ntheir-net = second:Net\n")
    with pytest.raises(ValueError, match=r"'their-net' is not valid; expected a name that one package offers; .* and "):
        own.find("their-net", ())
    assert own.find("other-net", ()).__name__ == "Net"
    another("third", "", f"[sigstats.readers]\ntheir-net = third\n[{own.GROUP}]\n")
    another("fourth", "", "[sigstats.readers]\ntheir-net = fourth\n")
    with pytest.raises(ValueError, match=r"datasets: source: 'their-net' is not valid; expected a name that one"):
        readers.REGISTRY.module("their-net")


@pytest.mark.parametrize("points", ["[x]\nn\xe9t = y:z\n", "[x]\nnet\n"])
def test_entry_points_of_one_package_that_cannot_be_read_leave_the_others(offers, another, points):
    offers(own.GROUP, their_net=NET)
    another("spoilt", "", points, encoding="latin-1")
    assert own.find("their-net", ()).__name__ == "Net"
    with pytest.raises(ValueError, match="'LDB' is not valid"):
        build("LDB")


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("class Odd(BaseException): pass\nraise Odd('no')", "Odd: no"),
        ("raise GeneratorExit", "GeneratorExit"),
        ("def __getattr__(name): raise RuntimeError('no ' + name)", "RuntimeError: no Net"),
    ],
)
def test_a_module_that_raises_whatever_is_refused(another, code, said, refused, tmp_path):
    another("odd", code, f"[{own.GROUP}]\nodd = odd:Net\n[sigstats.readers]\nodd = odd:Net\n")
    try:
        with pytest.raises(ValueError, match=f"'odd' is not valid; expected .* odd raised {said}"):
            own.find("odd", ())
        with pytest.raises(ValueError, match=f"'odd' is not valid; expected .* odd:Net raised {said}"):
            readers.REGISTRY.module("odd")
        assert said in refused("run", study_of(tmp_path, ['"odd"']), "--output", tmp_path / "out")
    finally:
        sys.modules.pop("odd", None)


@pytest.mark.long
def test_an_installed_package_offers_tests(tmp_path, offers):
    offers("sigstats.tests", their_sign="netpackage.checks:sign")
    study = {
        "kind": "calibration",
        "name": "s",
        "populations": [{"name": "s", "source": "sturm", "classes": 2, "right": [0.1]}],
        "tests": [{"test": "their-sign"}],
        "sizes": [20],
        "trials": 100,
    }
    (cell,) = KIND.prepare(parse_study(study, source="s.toml"), tmp_path).plan.cells
    assert (cell.fanout, cell.work.test.code["version"]) == ("own-test", "2.5")
    with pytest.raises(BadInput, match="their-sine"):
        parse_study({**study, "tests": [{"test": "their-sine"}]}, source="s.toml")


@pytest.mark.long
def test_an_installed_package_offers_measures(offers, package, tmp_path):
    """An F1 that somebody else wrote is ours in every place that takes a measure, and is part of what cells are."""
    offers("sigstats.measures", their_f1="netpackage.measures:f1", their_cost="netpackage.measures:cost")
    assert not as_measure("their-cost").greater_is_better
    outcomes = sigstats.JointOutcomes(40, 12, 5, 3, 2, 6, 9, 123)
    theirs, ours = (sigstats.bootstrap_test(outcomes, measure=name, rng=1) for name in ("their-f1", "f1"))
    assert (theirs.pvalue, theirs.estimate) == (ours.pvalue, ours.estimate)
    study = sigstats.run_study(
        {
            "kind": "benchmark",
            "datasets": ["iris"],
            "classifiers": ["lda", "naive-bayes"],
            "permutation": {"nulls": []},
            "tests": [],
            "measures": ["macro-f1", "macro-their-f1"],
        },
        output=tmp_path / "out",
        cluster="serial",
    )
    rows = [study.summary[study.summary["measure"] == name] for name in ("macro-f1", "macro-their-f1")]
    assert rows[0]["estimate"].tolist() == rows[1]["estimate"].tolist() != []
    y, one, other = (list("abba" * 20), list("abab" * 20), list("abbb" * 20))
    theirs, ours = (sigstats.compare(y, one, other, measures=[f"macro-{name}"]) for name in ("their-f1", "f1"))
    assert [(row.baseline, row.candidate, row.difference, row.pvalue) for row in theirs.rows] == [
        (row.baseline, row.candidate, row.difference, row.pvalue) for row in ours.rows
    ]
    assert "macro-their-f1" in theirs._repr_html_()
    for name, said in {
        "macro-their-cost": "greater is better",
        "macro-their-cos": "did you mean 'macro-their-cost'",
    }.items():
        with pytest.raises(ValueError, match=said):
            sigstats.compare(["a", "b"] * 9, ["a"] * 18, ["b"] * 18, measures=[name])
    calibration = {
        "kind": "calibration",
        "name": "s",
        "populations": [{"name": "s", "source": "simulated", "prevalence": [0.4], "recall": [0.7], "precision": [0.7]}],
        "tests": [{"test": "bootstrap", "measure": name, "resamples": 99} for name in ("their-f1", "f1")],
        "sizes": [20],
        "trials": 100,
    }
    cells = KIND.prepare(parse_study(calibration, source="s.toml"), tmp_path).plan.cells
    their, our = sorted(cells, key=lambda cell: cell.work.test.measure_code is None)
    assert our.work.test.measure_code is None
    tables = [
        subsample.FAN_OUT.compute(
            Block(cell=each, first_lane=0, last_lane=1), Store(str(tmp_path / "store")), each.work
        )
        for each in (their, our)
    ]
    assert tables[0].equals(tables[1])
    measures = package / "measures.py"
    measures.write_text(measures.read_text().replace("2 * tp, 2 * tp", "tp + tp, 2 * tp"))
    with pytest.raises(OtherCode, match=r"has netpackage 2\.5 .* planned with netpackage 2\.5"):
        subsample.FAN_OUT.compute(
            Block(cell=their, first_lane=0, last_lane=1), Store(str(tmp_path / "store")), their.work
        )


def test_a_measure_of_a_package_is_given_no_count_below_0(offers):
    """A root of a negative number is NaN, which is refused."""
    offers("sigstats.measures", g_mean="netpackage.measures:g_mean")
    y = np.random.default_rng(0).integers(0, 2, 100)
    (row,) = sigstats.compare(y, y, 1 - y, measures=["macro-g-mean"]).rows
    assert (row.baseline, row.candidate, row.verdict) == (1, 0, "fail")


@pytest.mark.parametrize("name", ["raises", "answer", "matrix", "missing"])
def test_what_is_no_measure_is_refused_in_one_line(offers, name):
    offers("sigstats.measures", theirs=f"netpackage.measures:{name}")
    with pytest.raises(ValueError, match=r"^measure") as caught:
        as_measure("theirs")
    assert "\n" not in str(caught.value)


def test_an_installed_package_offers_sources_of_data_sets(offers, tmp_path):
    """The digest of the data is that of the same rows in a CSV file, and an own source cannot be replaced."""
    offers(
        "sigstats.readers", numbers="netpackage.reader", lacking="netpackage.models", broken="netpackage.no", csv="os"
    )
    rows = [(i % 3 + i / 50, i * i % 7, i % 3) for i in range(30)]
    (tmp_path / "few.txt").write_text("\n".join(" ".join(map(str, row)) for row in rows))
    (tmp_path / "few.csv").write_text("\n".join(["x0,x1,class", *(",".join(map(str, row)) for row in rows)]))
    spec = {"source": "numbers", "name": "few", "path": "few.txt"}
    theirs = readers.load(spec, base=tmp_path)
    ours = readers.load({"source": "csv", "path": "few.csv", "target": "class"}, base=tmp_path)
    assert theirs.digest() == ours.digest()
    complaints = {"lacking": "it has no OPTIONS", "broken": "raised ModuleNotFoundError", "number": "did you mean"}
    for name, said in complaints.items():
        with pytest.raises(ValueError, match=said) as caught:
            readers.load({**spec, "source": name}, base=tmp_path)
        assert "\n" not in str(caught.value)
    with pytest.raises(ValueError, match=r"data set 'few': source numbers: FileNotFoundError: .*few\.tsv"):
        readers.load({**spec, "path": "few.tsv"}, base=tmp_path)
    titles = [table["title"] for table in TypeAdapter(DatasetTable).json_schema()["anyOf"]]
    assert "numbers" in titles
    assert not {"lacking", "broken"} & set(titles)


@pytest.mark.long
def test_the_classifiers_of_the_package_pass_the_checks_of_scikit_learn(package):
    from netpackage.models import Net
    from sklearn.utils.estimator_checks import check_estimator

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of checks that are skipped
        results = check_estimator(Net(), on_fail=None)
    assert [(one["check_name"], one["exception"]) for one in results if one["status"] == "failed"] == []
    assert sum(one["status"] == "passed" for one in results) > 40


@pytest.mark.long
def test_the_code_is_identified_by_its_source_and_that_of_what_it_names(package):
    before = code_of("netpackage.models:scaled", ALLOWED)
    assert before["version"] == "1.0"
    models = package / "models.py"
    models.write_text("# moved\n\n" + models.read_text() + "\nclass Second(Net):\n    depth = 2\n")
    assert code_of("netpackage.models:scaled", ALLOWED) == before
    models.write_text(models.read_text().replace("def _one(", "def _one(*_, "))  # a function that a class of it calls
    after = code_of("netpackage.models:scaled", ALLOWED)
    assert {key for key in before if before[key] != after[key]} == {"source"}
    assert code_of("lda", ALLOWED) is code_of("sklearn.svm.SVC", ALLOWED) is None


HOUSE = {
    "__init__": "from .first import Net as Net\n",
    "first": (
        "import numpy as np\nfrom .helpers import near\nfrom . import tables\nimport house.far\nRATE = 1\n"
        "class Base:\n    x = 1\nclass Net(Base):\n    def fit(self):\n"
        "        from .late import later\n        return near(RATE), tables.T, house.far.f, later\n"
        "Net.tag = 3\n"
    ),
    "helpers": "UNIT = 1\ndef near(x): return x * UNIT\ndef unused(): return 1\n",
    "tables": "T = {1: 2}\n",
    "far": "from house.helpers import *\nf = 2\n",
    "late": "later = 4\nother = 5\n",
}


@pytest.mark.long
@pytest.mark.parametrize(
    ("file", "old", "new", "same"),
    [
        ("first", "RATE = 1", "RATE = 2", False),
        ("first", "x = 1", "x = 2", False),
        ("first", "tag = 3", "tag = 4", False),
        ("first", "RATE = 1", "RATE = 1\nclass Second(Base): y = RATE", True),
        ("first", "import numpy as np", "import numpy as np, json\nother = json.dumps(1)  # a comment", True),
        ("helpers", "UNIT = 1", "UNIT = 2", False),
        ("tables", "{1: 2}", "{1: 3}", False),
        ("far", "f = 2", "f = 3", False),
        ("late", "later = 4", "later = 5", False),
        ("late", "other = 5", "other = 6", True),
    ],
)
def test_a_name_is_followed_through_the_package_of_the_user(tmp_path, monkeypatch, file, old, new, same):
    (tmp_path / "house").mkdir()
    for name, text in HOUSE.items():
        (tmp_path / "house" / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    for module in [name for name in sys.modules if name.partition(".")[0] == "house"]:
        monkeypatch.delitem(sys.modules, module)
    before = source_of("house", "Net")
    path = tmp_path / "house" / f"{file}.py"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    assert (source_of("house", "Net") == before) is same


@pytest.mark.long
def test_the_version_of_an_installed_package_that_is_used_counts(offers, another):
    another(
        "ourbase",
        "from netpackage.models import Net\nclass Ours(Net): pass\nclass Alone:\n    fit = predict = get_params = 1\n",
        "",
    )
    assert "with" not in code_of("ourbase:Ours", ("ourbase",))  # it is no distribution: its source counts
    offers(own.GROUP)
    before = code_of("ourbase:Ours", ("ourbase",))
    assert before["with"] == "netpackage 2.5"
    assert "with" not in code_of("ourbase:Alone", ("ourbase",))
    after = before | {"with": "netpackage 2.6"}
    assert difference(before, after) == "its dependencies were netpackage 2.5, are netpackage 2.6"


@pytest.mark.long
def test_a_namespace_of_several_distributions_has_the_versions_of_all(package, offers, another):
    offers(own.GROUP)
    another("second", "", "")
    (package.parent / "second-1.0.dist-info" / "top_level.txt").write_text("netpackage\n")
    assert code_of(NET, ALLOWED)["version"] == "netpackage 2.5, second 1.0"


@pytest.mark.long
def test_a_process_with_other_code_refuses_a_cell(package):
    classifier = Learner(learner=NET, params={}, code=code_of(NET, ALLOWED))
    assert type(build_as_planned(classifier, missing=False)).__name__ == "Net"
    for other, said in (({"version": "1.1"}, "netpackage 1.1"), ({"source": "0" * 64}, "source 0000000000")):
        with pytest.raises(OtherCode, match=f"has netpackage 1.0 .* planned with .*{said}"):
            build_as_planned(replace(classifier, code={**classifier.code, **other}))
    with pytest.raises(OtherCode, match=r"cannot use netpackage\.elsewhere:Net"):
        build_as_planned(replace(classifier, learner="netpackage.elsewhere:Net"))


@pytest.mark.long
def test_what_was_made_with_other_code_is_made_again(package, tmp_path, program):
    study, output = study_of(tmp_path, [named("net", NET), '"lda"']), tmp_path / "out"
    arguments = ["run", study, "--output", output, "--cluster", "serial", "--allow", "netpackage"]
    first = program(*arguments)
    assert first.returncode == 0
    before = replicates(output)
    again = program(*arguments)
    assert "nothing was left to compute" in again.stderr
    assert "computed again" not in again.stderr
    models = package / "models.py"
    models.write_text(models.read_text().replace("argmax(axis=1)]", "argmin(axis=1)]"))
    forget()
    changed = program(*arguments)
    assert changed.stderr.count("computed again: net, since the source of netpackage has changed") == 1
    assert {name.rpartition(".")[0] for name in before} <= {name.rpartition(".")[0] for name in replicates(output)}
    (package / "__init__.py").write_text('__version__ = "1.1"\n')
    forget()
    assert "computed again: net, since netpackage was 1.0, is 1.1" in program(*arguments).stderr
    assert len(list((output / "replicates").glob("retrain.few.lda*"))) == 1
    assert len(list((output / "replicates").glob("retrain.few.net*"))) == 3
