"""Groups and folds that a data set names, through whole studies."""

import html
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import GaussianNB

import sigstats
from sigstats.flows.api.results import open_results
from sigstats.flows.api.run import run_study
from sigstats.flows.benchmark.plan import KIND
from sigstats.flows.commands import main
from sigstats.flows.running.kind import parse_study
from sigstats.retraining.retrainer import Retrainer
from sigstats.retraining.rows import codes_of_columns, copies_in_other_folds
from sigstats.tasks.datasets.dataset import Dataset
from sigstats.tasks.datasets.readers import load
from sigstats.tasks.results import Results
from sigstats.tasks.storage.data import read_data
from sigstats.tasks.storage.store import Store

ROWS = 96


@pytest.fixture
def table(tmp_path):
    """24 patients of four visits, two classes; a fold of whole patients, and one that splits them."""
    rng = np.random.default_rng(5)
    patient = np.repeat(np.arange(24), 4)
    sick = np.where(rng.random(ROWS) < 0.15, 1 - patient % 2, patient % 2)
    frame = pd.DataFrame({"a": rng.normal(size=ROWS) + sick, "b": rng.normal(size=ROWS), "patient": patient})
    frame["fold"], frame["bad"] = patient // 2 % 3, np.arange(ROWS) % 3
    frame["class"] = np.where(sick, "sick", "well")
    frame.sample(frac=1, random_state=1).to_csv(tmp_path / "visits.csv", index=False)
    return tmp_path / "visits.csv"


def study(table, tests=("permutation", "mcnemar"), drop=(), columns=None, **cross_validation):
    columns = {"groups": "patient"} if columns is None else columns
    dropped = [name for name in ("patient", "fold", "bad") if name not in columns.values()]
    data = {"name": "visits", "source": "csv", "path": str(table), "target": "class", "drop": dropped, **columns}
    values = {
        "kind": "benchmark",
        "name": "s",
        "datasets": [data],
        "classifiers": ["1-nn", "naive-bayes"],
        "tests": list(tests),
        "cross_validation": {"folds": 4, **cross_validation},
        "permutation": {"resamples": 39},
    }
    return run_study(values, output=table.parent / "output", cluster="serial")


def test_groups_are_read_stored_and_part_of_the_identity(table):
    spec = {"name": "visits", "source": "csv", "path": str(table), "target": "class", "drop": ["bad"]}
    grouped = load({**spec, "groups": "patient", "folds": "fold"}, base=table.parent)
    assert grouped.features == ("a", "b")
    again = Dataset.from_table(grouped.to_table())
    assert again.digest() == grouped.digest()
    assert (again.groups == grouped.groups).all()
    assert (again.folds == grouped.folds).all()
    plain = load({**spec, "drop": ["bad", "patient", "fold"]}, base=table.parent)
    assert (
        len({each.digest() for each in (plain, grouped, load({**spec, "groups": "patient"}, base=table.parent))}) == 3
    )
    assert plain.groups is plain.folds is None


def test_copies_of_rows_in_other_folds_are_told_unless_groups_keep_them(table):
    frame = pd.read_csv(table)
    pd.concat([frame, frame[::4]]).to_csv(table, index=False)  # 24 of 96 rows twice
    data = {"name": "visits", "source": "csv", "path": str(table), "target": "class"}
    values = {"kind": "benchmark", "name": "s", "tests": ["permutation"], "permutation": {"resamples": 39}}
    values |= {"classifiers": ["1-nn"], "cross_validation": {"folds": "leave-one-out"}}

    def notes(**columns):
        columns["drop"] = [name for name in ("patient", "fold", "bad") if name not in columns.values()]
        study = parse_study({**values, "datasets": [data | columns]}, source="s.toml")
        return [note for note in KIND.prepare(study, table.parent).notes if "equal others" in note]

    told = "visits: 48 of 120 rows equal others that another fold tests: groups keep copies together"
    assert notes() == [told]
    del values["tests"], values["permutation"], values["cross_validation"]
    assert notes(groups="patient") == []


def test_features_named_like_labels_or_folds_are_told(table):
    frame = pd.read_csv(table)
    frame.assign(y_pred=frame["class"], y=0.5).to_csv(table, index=False)
    data = {"name": "visits", "source": "csv", "path": str(table), "target": "class", "drop": ["patient", "bad"]}
    values = {"kind": "benchmark", "name": "s", "classifiers": ["1-nn"], "tests": ["mcnemar"]}

    def notes(**columns):
        found = KIND.prepare(parse_study({**values, "datasets": [data | columns]}, source="s.toml"), table.parent).notes
        return [note.split(": ")[-1] for note in found if "named like a label" in note]

    assert notes() == ["fold, y_pred"]
    assert notes(folds="fold") == ["y_pred"]


def test_rows_that_are_never_tested_are_refused(table):
    frame = pd.read_csv(table)
    frame.loc[5, "fold"] = -1
    frame.to_csv(table, index=False)
    with pytest.raises(ValueError, match="column 'fold': -1 marks rows that are never tested"):
        load({"name": "v", "source": "csv", "path": str(table), "target": "class", "folds": "fold"}, base=table.parent)


@pytest.fixture
def noise():
    """240 rows whose classes are drawn without regard to the features, and the same with the rarer class copied."""
    rng = np.random.default_rng(11)
    rows = pd.DataFrame(rng.normal(size=(240, 3)).round(3), columns=["a", "b", "c"])
    rows["class"] = np.where(np.arange(240) < 60, "rare", "usual")
    return {"once": rows, "copied": pd.concat([rows, rows[:60], rows[:60]])}


@pytest.mark.long
def test_nothing_is_learned_or_chosen_where_copies_of_rows_decide(noise, tmp_path):
    for name, rows in noise.items():
        rows.to_csv(tmp_path / f"{name}.csv", index=False)
    sets = [{"name": name, "source": "csv", "path": f"{tmp_path}/{name}.csv", "target": "class"} for name in noise]
    values = {"kind": "benchmark", "name": "s", "classifiers": ["1-nn", "lda"], "measures": ["balanced-accuracy"]}
    values |= {"permutation": {"resamples": 79}, "cross_validation": {"folds": 4}}
    summary = run_study({**values, "datasets": sets}, output=tmp_path / "both", cluster="serial").summary
    copied = summary[(summary.dataset == "copied") & summary.test.isin(["permutation-labels", "mcnemar"])]
    assert set(copied.decision) == {"withheld"}
    stored = pd.read_parquet(tmp_path / "both" / "summary.parquet").loc[copied.index]
    assert "reject" in set(stored.decision)  # the stored numbers are those of the rows as they are
    page = (tmp_path / "both" / "report.html").read_text()
    told = r"nothing is concluded: 1[678]\d of 360 rows equal others that another fold tests"
    assert re.search(rf"on copied {told}", page)
    assert (
        'on copied keep rows that belong together in one fold (groups = "COLUMN"), and remove copies'
        in html.unescape(page)
    )
    assert re.search(r"On copied nothing is concluded: 1[678]\d of 360 rows", page)
    assert "learned real class structure on" not in page
    assert not re.search("(best|ahead|take [^.]*|is better than [^.]*) on copied", page)
    run_study({**values, "datasets": sets[1:]}, output=tmp_path / "copied", cluster="serial")
    alone = (tmp_path / "copied" / "report.html").read_text()
    assert re.search(rf"<h1[^>]*>\s*on copied {told}", alone)
    assert "learned real" not in re.sub("<details.*", "", alone, flags=re.DOTALL)


@pytest.mark.long
def test_every_answer_leaves_out_the_data_sets_with_copies(noise, tmp_path, capsys):
    noise["other"] = noise["once"].sample(frac=0.5, random_state=1)
    for name, rows in noise.items():
        rows.to_csv(tmp_path / f"{name}.csv", index=False)
    study = 'kind = "benchmark"\nclassifiers = ["1-nn", "lda", "decision-tree"]\ntests = ["permutation", "mcnemar"]\n'
    study += "permutation.resamples = 79\ncross_validation.folds = 4\n"
    for name in noise:
        study += f'[[datasets]]\nname = "{name}"\nsource = "csv"\npath = "{name}.csv"\ntarget = "class"\n'
    (tmp_path / "s.toml").write_text(study)
    assert main(["run", str(tmp_path / "s.toml"), "--output", str(tmp_path / "out"), "--cluster", "serial"]) == 0
    shown, summary = open_results(tmp_path / "out").summary, pd.read_parquet(tmp_path / "out" / "summary.parquet")
    tested = summary[summary.decision.isin(["reject", "keep"])]
    rest = tested[tested.dataset.isin(["once", "other"])]  # Friedman's test is over all data sets
    assert (tested.decision == "reject").sum() > (rejected := (rest.decision == "reject").sum())
    withheld = shown[shown.decision == "withheld"]
    assert [*withheld.index] == [*tested.index.difference(rest.index)]
    assert withheld.note.str.startswith("on copied nothing is concluded: ").all()
    assert not shown.note.drop(withheld.index).str.contains("nothing is concluded").any()
    told = f"{len(rest)} hypotheses (nothing is concluded on copied)"
    assert f", {told}, {rejected} rejected at 0.05, in " in capsys.readouterr().err
    page = html.unescape((tmp_path / "out" / "report.html").read_text())
    assert f"3 data sets, 3 classifiers, {told}" in page
    assert page.count(">rejected<") == rejected  # the column of decisions
    assert len(re.findall(">withheld<", page)) == len(tested) - len(rest)


def test_a_feature_that_names_units_of_one_class_is_reported_as_their_groups(tmp_path):
    rng = np.random.default_rng(4)
    unit = np.repeat(rng.permutation(40), 6)
    rows = pd.DataFrame({"a": rng.normal(size=240).round(3)})
    pure = np.array(["ill", "well"])[rng.integers(0, 2, 40)][unit]

    def notes(name, values, target=pure, **options):
        rows.assign(**{name: values, "class": target}).to_csv(tmp_path / "units.csv", index=False)
        data = {"name": "units", "source": "csv", "path": "units.csv", "target": "class", **options}
        values = {"kind": "benchmark", "name": "s", "datasets": [data], "classifiers": ["1-nn"], "tests": ["mcnemar"]}
        values["cross_validation"] = {"folds": 2}
        found = KIND.prepare(parse_study(values, source="s.toml"), tmp_path).notes
        return [note for note in found if "groups =" in note]

    def reported(name, units="each of the 40 values", have="has"):
        return [f'units: {units} of {name} {have} one class: groups = "{name}" keeps its rows together']

    texts = [f"p{number}" for number in unit]
    for name, values in (("patient", unit), ("patient", texts), ("SubjectID", unit), ("user_nr", unit), ("x", texts)):
        assert notes(name, values) == reported(name)
    assert notes("patient", unit, groups="patient") == []
    assert notes("dose", unit) == []  # a number without such a name may be a measurement
    other = np.where(pure == "ill", "well", "ill")
    assert notes("patient", unit, np.where(np.arange(240) == 7, other, pure)) == reported(
        "patient", "39 of the 40 values", "have"
    )
    assert notes("patient", unit, np.where(np.arange(240) % 48 == 7, other, pure)) == []  # 35 of 40
    assert notes("patient", np.minimum(unit, 5), np.where(np.minimum(unit, 5) < 3, "ill", "well")) == []  # few values
    single = np.where(np.arange(240) == 7, 99, unit)
    assert notes("patient", single) == reported("patient", "each of the 40 repeated values")
    assert notes("patient", np.where(np.arange(240) < 130, np.arange(240) + 100, unit)) == []  # most rows are single
    # with independent labels, 120 pairs have one class each with p = (1 - 2 * 59 / 60**2)**120 = 0.019
    pairs = np.repeat(np.arange(120), 2)
    assert notes("patient", pairs, np.where(pairs < 2, "ill", "well")) == []
    # 40 sixes with p = (0.975**6 + 0.025**6)**40 = 0.0023, and (0.95**6 + 0.05**6)**40 = 4.5e-6
    assert notes("patient", unit, np.where(unit == 0, "ill", "well")) == []
    assert notes("patient", unit, np.where(unit < 2, "ill", "well")) == reported("patient")


@pytest.mark.long
def test_nothing_is_concluded_where_the_rows_of_a_patient_are_in_several_folds(tmp_path):
    """Features are noise of each patient, so that a neighbour is a row of the same patient."""
    rng = np.random.default_rng(7)
    patient, flipped = np.repeat(np.arange(60), 5), np.arange(300) == 10
    features = rng.normal(size=(60, 4))[patient] + 0.3 * rng.normal(size=(300, 4))
    rows = pd.DataFrame(features.round(3), columns=list("abcd")).assign(patient_id=[f"P{i:03}" for i in patient])
    rows.assign(**{"class": rng.integers(0, 2, 60)[patient] ^ flipped}).to_csv(tmp_path / "p.csv", index=False)
    data = {"name": "p", "source": "csv", "path": f"{tmp_path}/p.csv", "target": "class"}
    values = {"kind": "benchmark", "name": "s", "classifiers": ["1-nn"], "tests": ["permutation"]}
    values |= {"permutation": {"resamples": 39, "nulls": ["labels"]}, "cross_validation": {"folds": 5}}
    told = "nothing is concluded: 59 of the 60 values of patient_id have one class"
    for name, groups in (("alone", {}), ("groups", {"groups": "patient_id"})):
        run_study({**values, "datasets": [data | groups]}, output=tmp_path / name, cluster="serial")
        page = html.unescape((tmp_path / name / "report.html").read_text())
        assert (told in page) == (name == "alone")
        assert "learned real" not in re.sub("<details.*", "", page, flags=re.DOTALL)


def test_copies_decide_if_a_value_identifies_them_and_repeated_categories_do_not(noise):
    rng = np.random.default_rng(2)

    def decisive(X, y, folds=5):
        columns, fold = codes_of_columns(np.asarray(X)), np.arange(len(y)) % folds
        return copies_in_other_folds(columns, np.asarray(y), fold)

    features, y = noise["once"][["a", "b", "c"]].to_numpy(), np.arange(240) % 2
    assert decisive(features, y) == ("", False)
    # each copy is tested in the fold after that of its original
    for count, expected in ((240, True), (60, True), (12, True), (4, False)):
        X, both = np.vstack([features, features[:count]]), np.append(y, y[:count])
        text, decides = decisive(X, both, 7)
        assert decides == expected
        assert text == (
            "" if count < 3 else f"{2 * count:,} of {240 + count:,} rows equal others that another fold tests"
        )
    party = rng.integers(0, 2, 400)  # votes that follow the party: many rows are equal, and none is a copy
    votes = np.where(rng.random((400, 12)) < 0.06, 1 - party[:, None], party[:, None])
    assert not decisive(votes, party)[1]
    iris = load({"name": "iris", "source": "scikit-learn"}, base=None)
    assert not decisive(iris.X, iris.y)[1]
    gaps = np.where(rng.random((400, 1)) < 0.4, np.nan, rng.normal(size=(400, 1)))
    assert not decisive(np.hstack([votes, gaps]), party)[1]  # equal where the value is missing


def test_a_test_of_too_few_arrangements_decides_nothing_and_the_page_says_why(table):
    frame = pd.read_csv(table)
    # of groups of one class, only patients 0 and 1 are of equal size: 2 arrangements of the labels
    frame["class"] = np.where(frame.patient % 2, "sick", "well")
    sizes = {patient: 2 + (patient if patient > 1 else 0) for patient in range(8)}
    pieces = [frame[frame.patient == patient].sample(size, replace=True) for patient, size in sizes.items()]
    rng = np.random.default_rng(3)
    grown = pd.concat(pieces).assign(a=lambda rows: rng.normal(size=len(rows)) + 4 * rows.patient.mod(2))
    grown.to_csv(table, index=False)
    summary = study(table, tests=("permutation",), folds=2).summary.set_index(["test", "classifier"])
    labels, features = (summary.loc[f"permutation-{name}"] for name in ("labels", "features"))
    assert set(labels.decision) == {"none"}
    assert (labels.p_value > 0.25).all()
    assert (labels.p_adjusted == labels.p_value).all()
    assert features.p_adjusted.notna().all()
    told = "permutations within groups give only 2 arrangements of the labels, so p is not below 0.5"
    page = (table.parent / "output" / "report.html").read_text()
    assert f"On visits, the test cannot reject: {told}." in page
    assert f"Note: visits: the permutation test of labels cannot reject: {told}." in page
    assert "could not be distinguished" not in page
    data = {"name": "visits", "source": "csv", "path": str(table), "target": "class", "groups": "patient"}
    settings = {"cross_validation": {"folds": 2}, "classifiers": ["1-nn", "k-nn"], "tests": ["permutation"]}

    def needed(resamples, *datasets):
        permutation = {"nulls": ["labels"], "resamples": resamples}
        values = {"kind": "benchmark", "name": "s", **settings, "permutation": permutation, "datasets": [*datasets]}
        notes = KIND.prepare(parse_study(values, source="s.toml"), table.parent).notes
        return [note for note in notes if note.startswith("no permutation test")]

    # the smallest p of two tests is above 0.05 / 2 with fewer than 39 permutations; those of visits do not count
    (note,) = needed(38, data | {"drop": ["fold", "bad"]}, "iris")
    assert note.endswith("2 tests adjusted by Holm need permutation.resamples = 39 or more")
    assert needed(39, data | {"drop": ["fold", "bad"]}, "iris") == []
    assert needed(19, data | {"drop": ["fold", "bad"]}) == []


@pytest.mark.parametrize("spelled", [str.upper, "{}.".format])
def test_classes_that_are_spelled_in_two_ways_are_named(table, spelled):
    frame = pd.read_csv(table, dtype={"class": str})
    frame["class"] = "c" + frame["class"]
    data = {"name": "visits", "source": "csv", "path": str(table), "target": "class", "columns": ["x"]}
    for every, n in ((1, 0), (2, 1)):  # all rows in one spelling, and half of them in another
        frame["x"] = range(len(frame))
        changed = frame.assign(
            **{"class": [spelled(c) if row % every == 0 else c for row, c in enumerate(frame["class"])]}
        )
        changed.to_csv(table, index=False)
        study = parse_study({"kind": "benchmark", "classifiers": ["1-nn"], "datasets": [data]}, source="s.toml")
        notes = [
            note for note in KIND.prepare(study, table.parent).notes if "are taken as two; write them alike" in note
        ]
        assert len(notes) == n
        assert all(note.startswith(("visits: 'c", "visits: 'C")) for note in notes)


@pytest.mark.long
def test_no_group_is_split_and_all_tests_keep_them(table):
    found = study(table, tests=["permutation", "mcnemar", "corrected-resampled"], repeats=2)
    frame = pd.read_csv(table)
    for fanout in ("crossval", "repetition"):
        rows = found.replicates(fanout=fanout, classifier="1-nn")
        assert (rows.groupby(frame.patient.to_numpy()[rows.row]).fold.nunique() == 1).all()
    a, b = (found.predictions(classifier=name) for name in ("1-nn", "naive-bayes"))
    ahead = (a.label == a.prediction).astype(int) - (b.label == b.prediction)
    sums = ahead.groupby(frame.patient.to_numpy()).sum()
    (row,) = found.summary[found.summary.test == "mcnemar"].to_dict("records")
    assert row["method"] == "sign flips of groups"
    assert row["p_value"] == pytest.approx(sigstats.sign_flip_test(sums).pvalue, rel=1e-12)
    assert row["estimate"] == pytest.approx(ahead.mean())
    nulls = found.summary[found.summary.test.str.startswith("permutation")].null_hypothesis
    assert nulls.str.contains("group").all()


def test_the_replicates_are_those_of_the_library(table):
    study(table)
    results = Results(Store(str(table.parent / "output")))
    for cell in results.cells("retrain", classifier="naive-bayes"):
        data = read_data(results.store, Dataset, "visits", cell.work.dataset.digest)
        folds = results.table(results.cells("crossval", classifier="naive-bayes")[0]).column("fold").to_numpy()
        model = Retrainer(GaussianNB(), data.X, data.y, folds, null=cell.subject["null"], groups=data.groups)
        wrong = np.concatenate([model.wrong(rng, size) for rng, size in cell.block(0, cell.lanes).lanes()])
        assert results.table(cell).column("wrong").to_numpy().tolist() == wrong.tolist()


def test_the_folds_of_the_data_are_taken(table):
    found = study(table, columns={"groups": "patient", "folds": "fold"})
    frame = pd.read_csv(table)
    rows = found.replicates(fanout="crossval", classifier="1-nn")
    assert (rows.fold.to_numpy() == frame.fold.to_numpy()[rows.row]).all()


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"folds": 30}, "folds: 30 is not valid; expected at most 24, the number of groups"),
        (
            {"tests": ["efficiency"]},
            "tests: 'efficiency' is not valid; expected others, since it assumes independent rows",
        ),
        ({"columns": {"groups": "patient", "folds": "bad"}}, "expected all rows of a group in one fold"),
        ({"columns": {"folds": "fold"}, "repeats": 2, "tests": ["corrected-resampled"]}, "repeats: 2 is not valid"),
        ({"columns": {"groups": "patients"}}, "column 'patients' was not found"),
        ({"columns": {"groups": "class"}}, "column 'class': name it in only one of target, groups, folds"),
    ],
)
def test_what_cannot_keep_groups_is_refused(table, settings, complaint):
    with pytest.raises(ValueError, match=r"data set|visits\.csv") as raised:
        study(table, **settings)
    assert complaint in str(raised.value)
    assert not (table.parent / "output").exists()
