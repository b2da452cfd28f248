"""Both permutation tests in one table: the numbers of the summary, with what is printed beside them."""

import re

import pytest

from sigstats.flows.benchmark.plan import KIND
from sigstats.flows.benchmark.report.permutation_tests import draw
from sigstats.flows.report.evidence import Evidence
from sigstats.tasks.results import Results
from sigstats.tasks.summary.published import Reference, write_references
from sigstats.tasks.summary.summarize import summarize

from ..synthetic_study import CLASSIFIERS, DATASETS, make_study


def cells(body):
    """The text of each cell, by classifier and data set."""
    found = {}
    for classifier, line in re.findall(r"<tr><th scope=\"row\">(.*?)</th>(.*?)</tr>", body.replace("\xa0", " ")):
        dataset, *texts = re.findall(r"<td[^>]*>([^<]*)<", line)
        found.setdefault(classifier, {})[dataset] = texts
    return found


@pytest.fixture(scope="module")
def evidence(tmp_path_factory):
    store = make_study(tmp_path_factory.mktemp("study"), replicates=99)
    observed = next(cell for cell in Results(store).cells("retrain", dataset="iris", classifier="1-nn", null="labels"))
    printed = [("p_value", "0.010", None), ("null_mean", "0.10", 0.05)]
    write_references(
        store,
        [Reference(cell=observed.name, name=name, printed=text, tolerance=within) for name, text, within in printed],
    )
    summarize(store, KIND.analyses)
    return Evidence(Results(store))


def test_one_table_has_each_classifier_on_each_data_set_with_both_tests(evidence):
    (figure,) = draw(evidence)
    tables = cells(figure.body)
    assert list(tables) == list(CLASSIFIERS)
    by_case = {(row.test, row.classifier, row.dataset): row for row in evidence.rows}
    for classifier, found in tables.items():
        assert sorted(found, key=lambda dataset: found[dataset][-1] == "not shown") == list(found)
        assert set(found) == set(DATASETS) - ({"digits"} if classifier == "linear-svm" else set())  # a cell is lost
        for dataset, (error, _, labels, permuted, features, said) in found.items():
            one, other = (by_case[f"permutation-{null}", classifier, dataset] for null in ("labels", "features"))
            assert said == ("lowers the error" if other.p_value <= 0.05 else "not shown")
            assert float(error.rstrip("%")) == pytest.approx(100 * one.estimate, abs=0.051)
            assert float(permuted.rstrip("%")) == pytest.approx(100 * other.null_mean, abs=0.051)
            assert float(features.lstrip("≤ ")) == pytest.approx(other.p_value, rel=0.06)
            assert float(labels.partition(" (")[0].lstrip("≤ ")) == pytest.approx(one.p_value, rel=0.06)


def test_printed_numbers_stand_beside_and_disagreement_is_marked(evidence):
    _, permuted, p, *_ = next(iter(cells(next(iter(draw(evidence))).body).values()))["iris"]
    assert p.endswith("(0.010)")
    assert permuted.endswith("(≠10%)")  # permuted labels err in two of three rows


def test_the_caption_says_what_the_mark_means(evidence):
    caption = next(iter(draw(evidence))).caption
    assert "≠ marks what does not round to it, Monte-Carlo error allowed for and a permuted error further" in caption
    assert "further away than 0.05." in caption
