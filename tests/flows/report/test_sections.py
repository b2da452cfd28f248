"""The verdicts: that they say what the rows of the summary say."""

import importlib
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from sigstats.flows.kinds import KINDS, kind_named
from sigstats.flows.report import page as report
from sigstats.flows.report import sections
from sigstats.flows.report.evidence import Evidence, Section, Verdict
from sigstats.flows.report.problems import printed_numbers
from sigstats.flows.report.rows import group_by
from sigstats.flows.report.usual_columns import MONTE_CARLO
from sigstats.retraining.permutation import permutation_test
from sigstats.tasks import statistical_tests
from sigstats.tasks.results import Results
from sigstats.tasks.schema import Hypothesis, summary_table
from sigstats.tasks.storage.store import Store
from sigstats.tasks.summary import Reference, compare_with_published, write_references

from ..synthetic_study import CONFIG, DATASETS, VERSIONS, make_study

EVIDENCE: Any = SimpleNamespace(adjust="none", alpha=0.05, cells={}, table_of=lambda row: row.dataset)


def known() -> list[Section]:
    """The sections of all tests of all kinds of study."""
    pages = [importlib.import_module(kind.page).PAGE for kind in map(kind_named, KINDS) if kind.page]
    modules = dict.fromkeys(name for page in pages for name in page.sections)
    ready = [section for name in modules for section in importlib.import_module(name).SECTIONS]
    covered = {section.test for section in ready}
    return [*ready, *(sections.section_without_module(name) for name in statistical_tests.TESTS if name not in covered)]


@pytest.mark.long
def test_too_few_permutations_are_named(tmp_path: Path) -> None:
    store = make_study(tmp_path, replicates=199, lost=())
    labels = _verdict(store, "permutation-labels")
    # 16 hypotheses at 1/200 each: Holm makes 0.08 of every one; 16 / (k + 1) <= 0.05 needs k = 319
    assert labels.headline.startswith("Too few permutations to decide: in 16 of 16 cases")
    assert len(labels.details) == 1
    assert labels.details[0].endswith("16 cases. At least 319 permutations are needed.")
    enough = make_study(tmp_path / "enough", replicates=319, lost=())
    assert _verdict(enough, "permutation-labels").headline.startswith("All 4 classifiers learned")


@pytest.mark.parametrize(("adjust", "wanted"), [("holm", "479"), ("benjamini-hochberg", "19"), ("none", "19")])
def test_the_permutations_needed_count_the_whole_family_though_its_adjusted_p_are_cut_at_1(
    adjust: Any, wanted: str
) -> None:
    p = 1 / 20
    stuck = [
        row.with_(p_adjusted=min(1, 24 * p), decision="keep", exceedances=0, replicates=19)
        for row in rows("permutation-labels", *[p] * 24)
    ]
    (section,) = (section for section in known() if section.test == "permutation-labels")
    found = section.verdict(stuck, SimpleNamespace(adjust=adjust, alpha=0.05, cells={}))  # type: ignore[arg-type]
    assert found.headline.endswith("no permutation was as extreme as the observed result (PermClass).")
    assert found.details[0].endswith(f"24 cases. At least {wanted} permutations are needed.")
    few = stuck[0].with_(dataset="visits", decision="none", note="2 arrangements")  # of no family
    found = section.verdict([*stuck, few], SimpleNamespace(adjust=adjust, alpha=0.05, cells={}))  # type: ignore[arg-type]
    assert "adjusting for 24 hypotheses" in found.details[1]
    assert found.details[1].endswith(f"At least {wanted} permutations are needed.")


def test_what_is_undecided_is_not_called_doubtful(tmp_path: Path) -> None:
    some = [row.with_(exceedances=0, replicates=9) for row in rows("permutation-labels", 0.06)]
    mixed = [*some, *(row.with_(classifier=f"d{i}") for i, row in enumerate(rows("permutation-labels", 0.01, 0.5)))]
    (section,) = (section for section in known() if section.test == "permutation-labels")
    found = section.verdict(mixed, EVIDENCE)
    assert found.headline.endswith("(PermClass, p\xa0=\xa00.01); 1 cannot be decided yet.")
    assert "c0 on iris. At least 19 permutations are needed." in found.details[0]
    assert [sentence.replace("\xa0", " ") for sentence in found.details[1:]] == [
        "On iris, d1 (p = 0.5) could not be distinguished from a classifier trained on random labels."
    ]


def test_the_better_classifier_is_named_first(tmp_path: Path) -> None:
    store = make_study(tmp_path, lost=())
    details = {sentence.split(",")[0]: sentence for sentence in _verdict(store, "mcnemar").details}
    assert set(details) == {f"On {dataset}" for dataset in DATASETS}
    right = _accuracies(store)
    clauses = re.findall(r"([\w-]+) is better than ([^;]+?\))(?=;|\.|$)", details["On digits"])
    pairs = {(better, worse) for better, rest in clauses for worse in re.findall(r"([\w-]+) \(adjusted p", rest)}
    assert len(pairs) >= 4
    for better, worse in pairs:
        assert right["digits", better] > right["digits", worse]


def _verdict(store: Store, test: str) -> Verdict:
    evidence = Evidence(Results(store))
    (section,) = (section for section in sections.of_study(evidence) if section.test == test)
    return section.verdict(evidence.rows_of(test), evidence)


def _accuracies(store: Store) -> dict[tuple[str, str], int]:
    results = Results(store)
    found = {}
    for cell in results.cells("crossval"):
        table = results.table(cell)
        assert table is not None
        same = table.column("label").to_numpy() == table.column("prediction").to_numpy()
        found[cell.subject["dataset"], cell.subject["classifier"]] = int(same.sum())
    return found


def rows(test: str, *p: float | None, **values: Any) -> list[Hypothesis]:
    base = Hypothesis(
        study="s", cell="c", test=test, method="m", alternative="less", null_hypothesis="h", dataset="iris", **values
    )
    decided = [None if value is None else ("reject" if value <= 0.05 else "keep") for value in p]
    return [
        base.with_(classifier=f"c{i}", p_value=value, p_adjusted=value, decision=decision or "missing")
        for i, (value, decision) in enumerate(zip(p, decided, strict=True))
    ]


CASES = "cases (a classifier on a data set) the classifier"
GAINED = "depended for its accuracy on the joint structure of the features"


@pytest.mark.parametrize(
    ("test", "p", "headline", "details"),
    [
        ("permutation-labels", [0.01], "c0 learned real class structure on iris (PermClass, p = 0.01).", []),
        (
            "permutation-labels",
            [0.01, 0.02],
            "Both classifiers learned real class structure on iris (PermClass, p ≤ 0.02).",
            [],
        ),
        (
            "permutation-labels",
            [0.01, 0.3],
            f"In 1 of 2 {CASES} learned real class structure (PermClass, p = 0.01).",
            ["On iris, c1 (p = 0.3) could not be distinguished from a classifier trained on random labels."],
        ),
        (
            "permutation-labels",
            [0.3],
            "The classifier was not shown to have learned real class structure (PermClass, p = 0.3).",
            ["On iris, c0 (p = 0.3) could not be distinguished from a classifier trained on random labels."],
        ),
        ("permutation-labels", [None], "There is no result: every hypothesis of this test (PermClass) is missing.", []),
        (
            "permutation-features",
            [0.6, 0.2],
            f"In none of 2 {CASES.replace(' the', ' was the')} shown to have {GAINED} (PermFeats, smallest p = 0.2).",
            [f"On iris, no classifier's accuracy was shown to depend on {GAINED[29:]} (smallest p = 0.2)."],
        ),
        (
            "permutation-features",
            [0.04, 0.2, 0.01, 0.02, 0.03],
            f"In 4 of 5 {CASES} {GAINED} (PermFeats, p ≤ 0.04).",
            ["On iris, c0, c2, c3 and c4 (each p ≤ 0.04) depended on it; c1 (p = 0.2) was not shown to."],
        ),
    ],
)
def test_verdicts_in_words(test: str, p: list[float | None], headline: str, details: list[str]) -> None:
    (section,) = (section for section in known() if section.test == test)
    found = section.verdict(rows(test, *p), EVIDENCE)
    assert found.headline.replace("\xa0", " ") == headline
    assert [sentence.replace("\xa0", " ") for sentence in found.details] == details


def test_permfeats_rejects_a_classifier_that_models_no_dependence_and_the_report_says_so() -> None:
    # The noise of both features cancels in their sum, which is what naive Bayes looks at; permuted apart, it does not.
    y, noise = np.repeat([0, 1], 30), np.random.default_rng(1).normal(size=60)
    found = permutation_test(
        "naive-bayes", np.column_stack([y + noise, y - noise]), y, null="features", n_resamples=199, rng=1
    )
    assert found.exceedances == 0
    (section,) = (section for section in known() if section.test == "permutation-features")
    rejected = rows("permutation-features", found.pvalue)
    said = " ".join([section.verdict(rejected, EVIDENCE).headline, section.question, section.method_of(rejected)])
    assert not re.search(r"\b(relie[sd]|rests?|uses?|used)\b", said)
    assert "It does not say that the classifier models that structure: naive Bayes" in said


def like(pd: float, decisions: dict[str, tuple[float, str]]) -> list[Hypothesis]:
    base = rows("likeness", 0.5)[0].with_(dataset="t", classifier=None, method="chi2", pd=pd, psd=0.03, nsd=0.0)
    names = list(decisions)
    return [
        base.with_(a=name, b=names[1 - i], p_value=p, p_adjusted=p, decision=decision)
        for i, (name, (p, decision)) in enumerate(decisions.items())
    ]


@pytest.mark.parametrize(
    ("crt", "said"),
    [
        pytest.param(
            (0.0158, "reject"),
            "like none of the known ones; the test rejects CRT (p = 0.0158, PD 0.03) and QDA (p = 0.0022, PD < 0.01). "
            "CRT is the closest, yet rejected too; it is not shown to be closer",
        ),
        pytest.param(
            (0.2, "keep"),
            "not shown to differ from CRT; QDA is rejected. Closest first: CRT (p = 0.2, PD 0.40) and QDA (p = 0.0022, "
            "PD < 0.01); it is not shown to be closer",
        ),
    ],
)
def test_the_closest_algorithm_may_be_rejected_too(crt: tuple[float, str], said: str) -> None:
    (section,) = (section for section in known() if section.test == "likeness")
    found = section.verdict(like(1.0, {"CRT": crt, "QDA": (0.0022, "reject")}), EVIDENCE)
    indices = "to CRT than to QDA (PD 1.00, PSD 0.03, NSD 0.00)"
    assert found.headline.replace("\xa0", " ") == f"t: the new algorithm is {said} {indices}."


ORDER = "same order of magnitude"


@pytest.mark.parametrize(
    ("value", "printed", "limits", "agreement"),
    [
        (0.702, "0.358", {"side": 0.05}, f"{ORDER}; same decision"),  # D1 of Ojala and Garriga
        (0.0055, "0.001", {"side": 0.02}, f"{ORDER}; same decision"),
        (0.06, "0.001", {"side": 0.1}, "another order of magnitude; another decision"),
        (0.06, "0.04", {"tolerance": 0.03}, f"{ORDER}; another decision; within 0.03, as the study allows"),
        (
            0.06,
            "0.04",
            {"tolerance": 0.01, "remark": "other folds"},
            "same order of magnitude; another decision; other folds",
        ),
        (0.0502, "0.050", {}, None),  # the same number
    ],
)
def test_a_printed_number_agrees_in_what_the_rule_says(
    tmp_path: Path, value: float, printed: str, limits: dict[str, Any], agreement: str | None
) -> None:
    store = Store(str(tmp_path))
    reference = Reference(cell="c", name="p_value", printed=printed, **limits)
    write_references(store, [reference])
    compared_rows = tuple(compare_with_published(rows("permutation-features", value), [reference]))
    evidence: Any = SimpleNamespace(rows=compared_rows, alpha=0.05, results=SimpleNamespace(store=store))
    found = printed_numbers(evidence)
    assert found is not None
    if agreement is None:
        assert found.headline == "The printed number agrees in value."
        return
    order, decision = (int(word not in agreement) for word in ("another order", "another decision"))
    counts = f"{order} in order of magnitude; {decision} of 1 printed p-values agree in decision"
    assert found.headline == f"0 of 1 printed numbers agree in value, {counts}."
    assert "rounds to the printed one" in found.caveat
    assert ("Not in decision: c0 on iris, permutation-features, m." in found.caveat) is (decision == 0)
    assert ("Not in order of magnitude: c0 on iris, permutation-features, m." in found.caveat) is (order == 0)
    shown = f"{printed} is printed, {value} recomputed ({agreement})"
    assert found.details[0] == f"c0 on iris, permutation-features, m: p {shown}."


def test_a_test_without_a_section_gets_a_plain_one(tmp_path: Path) -> None:
    store = make_study(tmp_path, datasets=["iris"], classifiers=["1-nn", "naive-bayes"], lost=())
    new = rows("calibrated", 0.01, 0.9, estimate=0.25, estimate_low=0.2, estimate_high=0.3, measure="f1", n=10)
    results = Results(store)
    results.__dict__["summary"] = summary_table(new)
    whole = report.render(Evidence(results), config=CONFIG, versions=VERSIONS)
    assert "Rejected in 1 of 2 tests: h." in whole
    assert "0.2500" in whole
    assert "0.2000–0.3000" in whole


def test_every_section_has_a_place_of_its_own() -> None:
    every = known()
    assert {section.test for section in every} >= {
        "permutation-labels",
        "permutation-features",
        "efficiency",
        "mcnemar",
    }
    tests = [section.test for section in every]
    assert [test for test in tests if tests.count(test) > 1] == []
    places = group_by(every, lambda section: section.order).values()
    assert [[section.test for section in group] for group in places if len(group) > 1] == []
    assert all(section.method and section.source for section in every)


def test_every_sentence_says_which_p_it_gives(tmp_path: Path) -> None:
    store = make_study(tmp_path, lost=())
    evidence = Evidence(Results(store))
    for section in sections.of_study(evidence):
        said = section.verdict(evidence.rows_of(section.test), evidence)
        for sentence in (said.headline, *said.details):
            for before in re.findall(r"(\S+\s+)p\xa0[=≤]", sentence):
                assert before.endswith("djusted "), sentence


@pytest.mark.long
def test_tests_whose_assumptions_are_not_met_are_named_so(tmp_path: Path) -> None:
    store = make_study(tmp_path, lost=(), analyses=("efficiency", "homogeneity", "mcnemar"))
    for test, why in (("efficiency", "pooled from folds"), ("homogeneity", "counted twice")):
        caveat = _verdict(store, test).caveat
        assert caveat.startswith("Here the assumptions of the test do not hold")
        assert why in caveat
    assert not _verdict(store, "mcnemar").caveat


def test_small_ends_of_an_interval_of_p_are_written_as_p_is() -> None:
    (base,) = rows("permutation-labels", 0.01)
    for low, high, said in ((5e-7, 7.4e-6, "5 × 10⁻⁷–7.4 × 10⁻⁶"), (0.0, 0.0053, "0–0.0053"), (0.98, 1.0, "0.98–1")):
        row = base.with_(p_low=low, p_high=high, replicates=10**7)
        assert MONTE_CARLO.text(row).replace("\xa0", " ") == said
