import json
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sigstats.flows.benchmark.model import BenchmarkStudy
from sigstats.flows.clusters import load_cluster
from sigstats.flows.config.model import validated
from sigstats.flows.config.settings import table_schema
from sigstats.flows.config.toml_files import apply_settings
from sigstats.flows.errors import BadInput
from sigstats.flows.running.kind import load_study, parse_study
from sigstats.tasks.datasets import readers

SHORTEST = """\
kind = "benchmark"
datasets = ["iris"]
classifiers = ["1-nn"]
"""
CALIBRATION = """
kind = "calibration"
populations = [{name = "p", source = "sturm", classes = 2, right = [0.1]}]
"""


def load(tmp_path, text, *settings_):
    path = tmp_path / "mine.toml"
    path.write_text(text)
    return load_study(path, settings_)


def test_the_shortest_useful_study_is_three_lines(tmp_path):
    study = load(tmp_path, SHORTEST)
    assert (study.name, study.seed, study.permutation.resamples) == ("mine", 0, 999)
    assert study.tests == ("permutation", "mcnemar")


def test_every_study_of_the_project_is_valid(repository):
    files = sorted((repository / "configs" / "studies").glob("*.toml"))
    assert files
    for path in files:
        assert load_study(path).name == path.stem


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "kind: is missing; expected one of benchmark"),
        ('kind = "benchmrk"', "kind: 'benchmrk' is not valid; expected one of benchmark"),
        ("kind = 3", "kind: 3 is not valid"),
        (SHORTEST + "sed = 3", "sed: unknown key; did you mean 'seed'?"),
        (SHORTEST + "resamples = 99", "resamples: unknown key; did you mean permutation.resamples?"),
        (SHORTEST + "[permutation]\nmeasures = []", "permutation.measures: unknown key; measures belongs to the study"),
        (SHORTEST + "[permutation]\nresample = 99", "permutation.resample: unknown key; did you mean 'resamples'?"),
        (
            SHORTEST + "[permutation]\nresamples = '99'",
            "permutation.resamples: '99' is not valid; expected a whole number",
        ),
        (SHORTEST + "[permutation]\nresamples = 0", "permutation.resamples: 0 is not valid"),
        (SHORTEST + "[permutation]\nresamples = 10", "permutation.resamples: 10 is not valid; expected at least 19"),
        (SHORTEST + "[permutation]\nnulls = ['label']", "permutation.nulls"),
        (SHORTEST + "[cross_validation]\nfolds = 1", "cross_validation.folds: 1 is not valid"),
        (SHORTEST + "alpha = 1.5", "alpha: 1.5 is not valid; expected less than 0.5"),
        (SHORTEST + "alpha = nan", "alpha: nan is not valid"),
        (SHORTEST + "seed = -1", "seed: -1 is not valid"),
        (SHORTEST + "tests = ['mcnemarr']", "did you mean 'mcnemar'?"),
        (f"{CALIBRATION}sizes = []\ntests = [{{test = 'mcnemar'}}]", "sizes: [] is not valid; expected a list of 1 or"),
        (
            'kind = "benchmark"\ndatasets = ["iris"]\n[[classifiers]]\nname = ""\nlearner = "1-nn"',
            "classifiers.0.name: '' is not valid; expected text of at least 1 character",
        ),
        (
            "kind = 'calibration'\nsizes = [9]\npopulations = [{name = 'p', source = 'kinds', kinds = []}]\ntests = []",
            "populations.0.kinds: [] is not valid; expected a list of 2 or more",
        ),
        (
            f"{CALIBRATION}sizes = [9]\ntests = [{{test = 'mcnemer'}}]",
            "tests.0: test: 'mcnemer' is not valid; did you mean",
        ),
        (SHORTEST + "name = '../x'", "name: '../x' is not valid"),
        ('kind = "benchmark"\nclassifiers = ["1-nn"]', "datasets: is missing"),
        ('kind = "benchmark"\ndatasets = []\nclassifiers = ["1-nn"]', "datasets"),
        ('kind = "benchmark"\ndatasets = ["iris", "iris"]\nclassifiers = ["1-nn"]', "expected each name once"),
        ('kind = "benchmark"\ndatasets = [{source = "csv"}]\nclassifiers = ["1-nn"]', "expected a name among its keys"),
        (
            'kind = "benchmark"\ndatasets = ["iris"]\nclassifiers = [{name = "a", lerner = "b"}]',
            "did you mean 'learner'?",
        ),
        ("kind = ", "is not TOML"),
        ("kind = benchmark", 'text needs quotes: kind = "benchmark"'),
        (SHORTEST + "tests = ['trained']", "tests: 'trained' is not valid; expected one of bootstrap"),
        (SHORTEST + "tests = ['likeness']", "tests: 'likeness' is not valid; expected one of bootstrap"),
    ],
)
def test_bad_studies_are_refused_in_one_line(tmp_path, text, complaint):
    with pytest.raises(BadInput) as caught:
        load(tmp_path, text)
    assert complaint in str(caught.value)
    assert "mine.toml" in str(caught.value)
    assert "\n" not in str(caught.value).strip() or "is not TOML" in complaint


@pytest.mark.parametrize(
    ("classifier", "said"),
    [
        ({"learner": "a.b"}, "classifiers.1.name: is missing"),
        ({"name": {"a": 1}, "learner": "a.b"}, "classifiers.1.name: {'a': 1} is not valid; expected a string"),
        ({"name": "a", "learner": "a.b", "time_limit": 0}, "classifiers.1.time_limit: 0 is not valid; .* than 0"),
        ({"name": "", "learner": "a.b", "time_limit": 0}, r"classifiers.1.time_limit: .* than 0 \(and 1 more\)"),
        (3, "classifiers.1: 3 is not valid; expected a string"),
    ],
)
def test_what_is_wrong_is_counted_once(classifier, said):
    """A classifier is text or a table; what is wrong in the table is no other mistake than that it is no text."""
    values = {"kind": "benchmark", "name": "n", "datasets": ["iris"], "classifiers": ["lda", classifier]}
    with pytest.raises(BadInput, match=f"^study: {said}$"):
        validated(BenchmarkStudy, values, source="study")


def test_a_missing_file_names_its_neighbour(tmp_path):
    (tmp_path / "quickstart.toml").write_text(SHORTEST)
    with pytest.raises(BadInput, match=r"did you mean .*quickstart\.toml"):
        load_study(tmp_path / "quickstrat.toml")


def test_set_overrides_the_file(tmp_path):
    study = load(tmp_path, SHORTEST, "permutation.resamples=99", "name=other", "alpha=0.1", 'datasets=["wine"]')
    assert (study.permutation.resamples, study.name, study.alpha, study.datasets) == (99, "other", 0.1, ["wine"])


@pytest.mark.parametrize("setting", ["seed", "=3", "a..b=3", "seed.x=1", "alpha=2", "sed=3", "permutaton.resamples=9"])
def test_bad_settings_are_refused(tmp_path, setting):
    with pytest.raises(BadInput, match=r"^--set: "):
        load(tmp_path, SHORTEST + "seed = 1", setting)


def test_a_mistake_of_the_file_is_not_blamed_on_a_setting(tmp_path):
    with pytest.raises(BadInput, match=r"toml: sed: unknown key"):
        load(tmp_path, SHORTEST + "sed = 1", "seed=2")


@settings(derandomize=True)
@given(st.text(max_size=30))
def test_any_setting_is_applied_or_refused(text):
    try:
        assert isinstance(apply_settings({"seed": 1}, [text]), dict)
    except BadInput:
        pass


@pytest.mark.parametrize(
    ("text", "workers", "complaint"),
    [
        ("lokal", None, "did you mean 'local'?"),
        ("http://x", None, "address"),
        ("tcp://myhost", None, "--cluster: address: 'tcp://myhost' is not valid; expected tcp://HOST:PORT"),
        ("tls://10.0.0.1:", None, "address: 'tls://10.0.0.1:' is not valid; expected tls://HOST:PORT"),
        ("tcp://::1:8786", None, "expected tcp://HOST:PORT"),
        ("tcp://a:65536", None, "expected tcp://HOST:PORT"),
        ("tcp://a:8786/x", None, "expected tcp://HOST:PORT"),
        ("nowhere.toml", None, "there is no such file"),
        ("serial", 2, "--workers: 2 is not valid"),
        ("local", 0, "workers: 0 is not valid"),
    ],
)
def test_bad_clusters_are_refused_in_one_line(text, workers, complaint):
    with pytest.raises(BadInput) as caught:
        load_cluster(text, workers)
    assert complaint in str(caught.value)


@pytest.mark.parametrize("address", ["tcp://a-b.c:1", "tls://10.0.0.1:8786", "tcp://[::1]:65535", "ws://host/path"])
def test_addresses_of_schedulers_are_taken(address):
    assert load_cluster(address).address == address


def test_the_default_cluster_is_local_processes():
    assert load_cluster(None).kind == "local"
    assert load_cluster(None, 3).workers == 3


@pytest.mark.long
def test_schema_is_json_schema_and_accepts_the_quick_start(repository, printed):
    from jsonschema import Draft202012Validator

    from sigstats.flows.config.toml_files import read_toml

    schema = json.loads(printed("schema"))
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    validator.validate(read_toml(repository / "configs" / "studies" / "quickstart.toml"))
    assert not validator.is_valid({"kind": "benchmark", "datasets": ["iris"], "classifiers": ["1-nn"], "sed": 1})
    for file in (repository / "configs" / "studies").glob("*.toml"):
        validator.validate(read_toml(file))


@pytest.mark.long
@pytest.mark.parametrize(
    ("table", "right"),
    [
        ({"name": "iris"}, True),
        ({"name": "x", "source": "csv", "path": "x.csv", "target": "y", "nominal": ["a"]}, True),
        ({"name": "x", "source": "arff", "path": "x.arff"}, True),
        ({"name": "x", "source": "generated", "generator": "noise", "rows": 9}, True),
        ({"name": "x", "source": "csv", "path": "x.csv"}, False),
        ({"name": "x", "source": "csv", "path": "x.csv", "target": "y", "targt": "y"}, False),
        ({"name": "x", "source": "csv", "path": 1, "target": "y"}, False),
        ({"name": "x", "source": "cvs", "path": "x.csv", "target": "y"}, False),
        ({"name": "x", "path": "x.csv", "target": "y"}, False),
    ],
)
def test_the_schema_completes_and_checks_tables_of_data_sets(table, right, printed):
    from jsonschema import Draft202012Validator

    validator = Draft202012Validator(json.loads(printed("schema")))
    assert validator.is_valid({"kind": "benchmark", "datasets": [table], "classifiers": ["1-nn"]}) is right


def test_an_editor_is_told_what_every_option_of_a_data_set_is():
    for source, reader in readers.REGISTRY.modules().items():
        for name, form in table_schema(source)["properties"].items():
            assert form.get("description"), f"{source}: {name}"
        assert set(reader.REQUIRED) <= {"name", *reader.OPTIONS}


@pytest.mark.parametrize(
    ("dataset", "complaint"),
    [
        ('{ name = "x", path = "x.csv", target = "y" }', "data set x: source: is missing; expected one of arff, csv,"),
        (
            '{ name = "x", source = "inline", rows = ["1 a", "2 b", "3 b"] }',
            "x: cross_validation.folds: 10 is not valid; expected at most 1, the number of rows of class 'a'; or",
        ),
    ],
)
def test_what_is_wrong_with_a_data_set_names_the_key_of_the_study(tmp_path, refused, dataset, complaint):

    path = tmp_path / "mine.toml"
    path.write_text(f'kind = "benchmark"\nclassifiers = ["1-nn"]\ndatasets = [{dataset}]\n')
    assert complaint in refused("plan", path)


def test_a_byte_order_mark_is_no_part_of_a_study(tmp_path):
    plain = load(tmp_path, SHORTEST)
    (tmp_path / "mine.toml").write_text(SHORTEST, encoding="utf-8-sig")
    assert load_study(tmp_path / "mine.toml") == plain


@pytest.mark.parametrize(
    "text", ["x = " + "[" * 20_000 + "]" * 20_000, "x = " + "9" * 5000], ids=["20,000 lists", "5,000 digits"]
)
def test_toml_that_python_gives_up_is_one_line(tmp_path, text):
    (tmp_path / "mine.toml").write_text(text)
    with pytest.raises(BadInput, match=r"mine\.toml: (is nested too deeply|cannot be read)") as caught:
        load_study(tmp_path / "mine.toml")
    assert "\n" not in str(caught.value)
    with pytest.raises(BadInput, match=r"--set: 'x = .* is not valid; expected a value that a study may have"):
        apply_settings({}, [text])


def test_tables_of_many_levels_are_one_line(tmp_path):
    (tmp_path / "mine.toml").write_text(".".join(["a"] * 700) + " = 1")
    with pytest.raises(BadInput, match=r"mine\.toml: is nested too deeply"):
        load_study(tmp_path / "mine.toml")
    with pytest.raises(BadInput, match=r"--set: 'a\.a\.a.* is not valid; expected key=value"):
        apply_settings({}, [".".join(["a"] * 700) + "=1"])


def test_an_entry_of_a_list_is_set_by_its_number():
    values = {"populations": [{"name": "a"}, {"name": "b"}], "seed": 1}
    assert apply_settings(values, ["populations.1.replacement=true", "populations.0=2"]) == {
        "populations": [2, {"name": "b", "replacement": True}],
        "seed": 1,
    }
    assert values == {"populations": [{"name": "a"}, {"name": "b"}], "seed": 1}
    with pytest.raises(BadInput, match=r"'2' is not a number below 2, that of an entry of populations"):
        apply_settings(values, ["populations.2.replacement=true"])
    with pytest.raises(BadInput, match=r"seed is not a table"):
        apply_settings(values, ["seed.x=1"])


def test_a_key_with_a_line_break_is_named_in_one_line():
    forest = {"name": "forest", "learner": "sklearn.ensemble.RandomForestClassifier"}
    values = {"kind": "benchmark", "datasets": ["iris"]}
    with pytest.raises(BadInput) as refused:
        parse_study({**values, "classifiers": [{**forest, "params": {"\n": date(2026, 1, 1)}}]}, source="study.toml")
    assert str(refused.value).startswith(
        r"study.toml: classifiers.0.params: '\n': a date is not valid; expected a string"
    )


def test_long_names_are_shortened_in_messages():
    values = {"kind": "benchmark", "datasets": ["iris"], "classifiers": ["1-nn"]}
    for wrong in ({"x" * 3000: 1}, {"tests": [{"test": "x" * 3000}]}):
        with pytest.raises(BadInput) as refused:
            parse_study({**values, **wrong}, source="study.toml")
        assert len(str(refused.value)) < 600
        assert "xxx...xxx" in str(refused.value)
