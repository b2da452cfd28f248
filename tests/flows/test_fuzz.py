"""Files with anything in them (studies, clusters, data): what they mean, or one line that says what is wrong."""

import copy
import re
import tomllib
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sigstats.files.predictions import Columns, read
from sigstats.flows.benchmark.plan import KIND
from sigstats.flows.clusters import load_cluster
from sigstats.flows.errors import BadInput
from sigstats.flows.report.page import config_as_toml
from sigstats.flows.running.kind import parse_study
from sigstats.tasks.datasets import readers as sources

from ..examples import examples

ROOT = Path(__file__).parents[2]
STUDIES = {path.stem: tomllib.loads(path.read_text()) for path in sorted((ROOT / "configs/studies").glob("*.toml"))}
CLUSTERS = {path.stem: tomllib.loads(path.read_text()) for path in sorted((ROOT / "configs/clusters").glob("*.toml"))}

TEXTS = [
    "",
    "x",
    "\n",
    "../../etc/passwd",
    "os.system",
    "sklearn.base.clone",
    "sklearn.svm.SVC",
    "{0}",
    "%s",
    "\x1b[2J",
]
TEXTS += ["a" * 5000, "exec('x')", "s3://", "file:///dev/zero", "nan"]

#: No value that a file can hold is beyond these: TOML has texts, numbers, booleans, dates, lists and tables.
ANYTHING = st.recursive(
    st.one_of(
        st.sampled_from(TEXTS),
        st.sampled_from([-1, 0, 1, 2, 3, 2**31, 2**63, -(2**63), 10**30]),
        st.sampled_from([0.0, -0.0, 0.5, 1.0, 1e-320, 1e308, float("inf"), float("nan")]),
        st.booleans(),
        st.dates(),
        st.text(max_size=8),
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=4,
)


def places(value, path=()):
    """Every place in nested tables and lists."""
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield from places(one, (*path, key))


@st.composite
def spoiled(draw, files):
    """The values of a file with one to three of them replaced, removed, added or doubled."""
    values = copy.deepcopy(files[draw(st.sampled_from(sorted(files)))])
    for _ in range(draw(st.integers(1, 3))):
        path = draw(st.sampled_from([place for place in places(values) if place] or [()]))
        if not path:
            break
        holder = values
        for key in path[:-1]:
            holder = holder[key]
        how = draw(st.sampled_from(["replace", "replace", "remove", "add", "double"]))
        if how == "replace":
            holder[path[-1]] = draw(ANYTHING)
        elif how == "remove":
            del holder[path[-1]]
        elif how == "double" and isinstance(holder, list):
            holder.append(copy.deepcopy(holder[path[-1]]))
        elif isinstance(holder, dict):
            holder[draw(st.text(max_size=6))] = draw(ANYTHING)
    return values


def one_line(error):
    text = str(error)
    assert text
    assert "\n" not in text
    assert len(text) < 1500


def spoiled_often(strategy):
    many = settings(
        max_examples=examples(400),
        deadline=None,
        derandomize=True,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    return lambda test: many(given(strategy)(test))


@spoiled_often(spoiled(STUDIES))
def test_a_spoiled_study_is_a_study_or_one_line(values):
    try:
        study = parse_study(values, source="study.toml")
    except BadInput as error:
        one_line(error)
    else:
        kept = study.model_dump(mode="json", exclude_none=True)
        assert parse_study(tomllib.loads(config_as_toml(kept)), source="study.toml") == study


@pytest.mark.parametrize("name", STUDIES)
def test_what_a_report_says_of_a_ready_study_is_its_study_file(name):
    study = parse_study(copy.deepcopy(STUDIES[name]), source="study.toml")
    said = tomllib.loads(config_as_toml(study.model_dump(mode="json", exclude_none=True)))
    assert parse_study(said, source="study.toml") == study


@spoiled_often(spoiled(CLUSTERS))
def test_a_spoiled_cluster_is_a_cluster_or_one_line(tmp_path_factory, values):
    path = tmp_path_factory.mktemp("cluster") / "cluster.toml"
    try:
        path.write_text(config_as_toml(values))
        tomllib.loads(path.read_text())
    except (TypeError, ValueError, tomllib.TOMLDecodeError):
        return  # no file can say this
    try:
        load_cluster(str(path))
    except BadInput as error:
        one_line(error)


#: Small files of each format, which tools/fuzz.py begins with too.
CORPUS = {path.name: path.read_bytes() for path in sorted(Path(__file__).with_name("corpus").iterdir())}


def parquet():
    held = pa.BufferOutputStream()
    pq.write_table(
        pa.table({"id": [1, 2, 3, 4], "label": list("abab"), "prediction": list("aabb"), "x": [0.5, 1, 2, 3]}), held
    )
    return held.getvalue().to_pybytes()


FILES = {**CORPUS, "data.parquet": parquet()}
BITS = [bytes([each]) for each in b"\0\"',\n{}@?%"] + [b"", b"\xff\xfe", b"nan", b"1e999", b"\xc3\x28", b"PAR1"]


@st.composite
def damaged(draw, names):
    """A file of one of the formats, with bytes cut out, put in or changed."""
    name = draw(st.sampled_from(sorted(names)))
    content = bytearray(FILES[name])
    for _ in range(draw(st.integers(1, 4))):
        first = draw(st.integers(0, max(len(content) - 1, 0)))
        last = min(first + draw(st.integers(0, 12)), len(content))
        content[first:last] = draw(st.sampled_from(BITS) | st.binary(max_size=6))
    return name, bytes(content)


@spoiled_often(damaged({"data.csv", "data.arff", "data.parquet"}))
def test_a_damaged_data_set_is_a_data_set_or_one_line(tmp_path_factory, file):
    name, content = file
    path = tmp_path_factory.mktemp("data") / name
    path.write_bytes(content)
    target = {"csv": "label", "arff": "class", "parquet": "label"}[path.suffix[1:]]
    try:
        found = sources.load(
            {"name": "d", "source": path.suffix[1:], "path": str(path), "target": target}, base=path.parent
        )
    except ValueError as error:
        one_line(error)
    else:
        assert len(found.X) == len(found.y) > 0


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("twice.csv", b"id,id,label,prediction\n1,1,a,b\n", "column 'id' appears 2 times"),
        ("breaks.csv", b'"va\nb",c\n1,2\n', r"--id COLUMN of 'va\nb', 'c'"),
    ],
)
def test_names_of_columns_are_said_in_one_line(tmp_path, name, content, complaint):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=re.escape(complaint)) as caught:
        read(str(tmp_path / name), Columns())
    one_line(caught.value)


@pytest.mark.parametrize(
    "name", ["os.system", "builtins.eval", "subprocess.Popen", "sklearn.utils._testing.os.system", "pickle.loads"]
)
def test_no_code_is_named_by_a_study(name):
    study = {**STUDIES["quickstart"], "classifiers": [{"name": "c", "learner": name}]}
    with pytest.raises(BadInput, match=r"learner|classifier|scikit-learn") as caught:
        KIND.prepare(parse_study(study, source="study.toml"), ROOT)
    one_line(caught.value)
