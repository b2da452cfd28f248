"""The reference set, the programs that make it, and `sigstats verify`."""

import ast
import json
import math
import re
import subprocess
import sys
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest
import scipy.stats
from statsmodels.stats.proportion import proportion_confint

import sigstats
from sigstats.flows.commands import main
from sigstats.flows.commands import verify as reference_set

ROOT = Path(__file__).parents[3]
TOOLS = ROOT / "tools" / "reference_set"
FILES = {name: json.loads(content) for name, content in reference_set.tables().items()}


def cases(test, **arguments):
    """The cases of a test whose arguments have these values."""
    for case in FILES[test]["cases"]:
        if all(case["arguments"].get(key) == value for key, value in arguments.items()):
            yield case["arguments"], {name: float(value["digits"]) for name, value in case["values"].items()}


def test_the_programs_know_nothing_of_what_they_judge():
    for path in TOOLS.glob("*.py"):
        imported = {
            alias.name if isinstance(node, ast.Import) else node.module or ""
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.Import | ast.ImportFrom)
            for alias in node.names
        }
        assert not any(name.split(".")[0] in ("sigstats", "numpy", "scipy") for name in imported), path


def test_there_is_a_program_for_each_file_and_a_line_of_the_page():
    page = (ROOT / "sigstats" / "reference_set" / "README.md").read_text(encoding="utf-8")
    said = {name: int(count) for name, count in re.findall(r"^\| `([\w.]+)` \| (\d+) \|", page, flags=re.MULTILINE)}
    assert said == {name: len(table["cases"]) for name, table in FILES.items()}
    assert {name.replace(".", "_") for name in said} == {path.stem for path in TOOLS.glob("[!_]*.py")}
    assert all(count >= 30 for count in said.values())


def test_the_files_are_what_the_schema_says():
    schema = json.loads((ROOT / "sigstats" / "reference_set" / "schema.json").read_text(encoding="utf-8"))
    fields = schema["properties"]["cases"]["items"]["properties"]
    for name, table in FILES.items():
        assert set(table) == set(schema["required"])
        assert table["test"] == name
        assert len(table["methods"]) == 2
        for case in table["cases"]:
            assert set(case) <= set(fields)
            assert case["difficulty"] in fields["difficulty"]["enum"]
            for value in case["values"].values():
                exact = Decimal(value["digits"])
                if "fraction" in value:
                    held = Fraction(exact)
                    assert abs(Fraction(value["fraction"]) - held) <= abs(held) * Fraction(1, 10**39)


def test_published_figures_stand_beside_their_misprints():
    noted = [case for table in FILES.values() for case in table["cases"] if "a misprint of" in case.get("note", "")]
    assert [case["case"].split("-")[0] for case in noted] == ["goodness_of_fit_test"] * 2 + ["homogeneity_test"]
    for case in noted:
        found = re.search(r"prints ([\d.]+), a misprint of ([\d.]+)", case["note"])
        assert found is not None
        certified = float(case["values"]["pvalue"]["digits"])
        assert round(certified, 4) == float(found[2])
        assert round(certified, len(found[1]) - 2) != float(found[1])


@pytest.mark.long
def test_the_set_is_made_again_byte_for_byte(tmp_path):
    names = """adjust_pvalues bootstrap_test corrected_resampled_test auc_test fuzzy.efficiency_test
    homogeneity_test GandyRule pair_probability proportion_test dcf_test rank_sets sign_flip_test"""
    code = (
        "import importlib, sys; from pathlib import Path\nfrom tools.reference_set._cases import write\n"
        f"for name in {names.split()}:\n"
        "    m = importlib.import_module('tools.reference_set.' + name.replace('.', '_'))\n"
        "    write(Path(sys.argv[1]), name, m.SOURCE, m.METHODS, m.cases())\n"
        "assert 'sigstats' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], cwd=ROOT, check=True)
    made, kept = {path.stem: path.read_bytes() for path in tmp_path.iterdir()}, reference_set.tables()
    assert made == {name: kept[name] for name in names.split()}


def test_scipy_and_statsmodels_agree_where_they_have_the_test():
    for given, values in cases("mcnemar_test", method="exact", alternative="two-sided"):
        n = given["only_a"] + given["only_b"]
        if n:
            theirs = scipy.stats.binomtest(given["only_a"], n).pvalue
            assert theirs == pytest.approx(values["pvalue"], rel=1e-9, abs=1e-300)
    for given, values in cases("homogeneity_test", method="exact"):
        if len(given["counts_a"]) == 2:
            theirs = scipy.stats.fisher_exact([given["counts_a"], given["counts_b"]]).pvalue
            assert theirs == pytest.approx(values["pvalue"], rel=1e-9)
    for given, values in cases("clopper_pearson"):
        k, n = given["successes"], given["n"]
        theirs = proportion_confint(k, n, alpha=1 - given["confidence_level"], method="beta")
        assert [x for x in theirs if not math.isnan(x)] == pytest.approx([values["low"], values["high"]], rel=1e-9)
    for given, values in cases("signed_rank_test", zero_method="wilcox"):
        magnitudes = [abs(each) for each in given["differences"] if each]
        if len(magnitudes) == len(set(magnitudes)) > 1:
            theirs = scipy.stats.wilcoxon(given["differences"], alternative=given["alternative"], method="exact")
            assert theirs.pvalue == pytest.approx(values["pvalue"], rel=1e-12)


@pytest.mark.long
def test_every_test_has_the_digits_that_are_promised(printed):
    found = json.loads(printed("verify", "--json", "-"))
    assert {case["test"] for case in found["cases"]} == set(FILES)
    assert min(case["digits"] for case in found["cases"]) >= found["promised"] == 11
    assert re.fullmatch("[0-9a-f]{64}", found["machine"]["reference set"])
    assert found["machine"]["Python"] == ".".join(map(str, sys.version_info[:3]))


@pytest.fixture
def digits_alone(monkeypatch):
    """Let `sigstats verify` check the digits, and not run the study that takes seconds."""
    monkeypatch.setattr(reference_set, "_bytes", lambda: ({}, [], []))


def spoiled(monkeypatch, test, change):
    """Let one file of the set say something else."""
    files = dict(reference_set.tables())
    table = json.loads(files[test])
    change(table["cases"][3])
    files = {test: json.dumps(table).encode()}
    monkeypatch.setattr(reference_set, "tables", lambda: files)


@pytest.mark.usefixtures("digits_alone")
def test_a_wrong_digit_of_the_set_is_found(monkeypatch, capsys):
    spoiled(monkeypatch, "pair_probability", lambda case: case["values"]["value"].update(digits="0.2500000001"))
    assert main(["verify"]) == 3
    assert "pair_probability-004: " in capsys.readouterr().err


@pytest.mark.usefixtures("digits_alone")
def test_a_wrong_digit_of_the_library_is_found(monkeypatch, capsys):
    right = sigstats.clopper_pearson
    monkeypatch.setattr(
        sigstats, "clopper_pearson", lambda **given: replace(right(**given), high=right(**given).high * (1 + 2e-11))
    )
    files = {"clopper_pearson": reference_set.tables()["clopper_pearson"]}
    monkeypatch.setattr(reference_set, "tables", lambda: files)
    assert main(["verify"]) == 3
    assert capsys.readouterr().err.count("digits are right, 11 are promised") > 20


@pytest.mark.usefixtures("digits_alone")
@pytest.mark.parametrize(
    ("test", "name"),
    [
        ("mean_score_test", "confidence_interval[0]"),
        ("auc_test", "standard_error"),
        ("efficiency_test", "kappa"),
        ("discordant_odds_ratio", "confidence_interval[1]"),
        ("accuracy_difference", "confidence_interval[0]"),
    ],
)
def test_the_eleventh_digit_of_any_figure_is_held(monkeypatch, capsys, test, name):
    def change(case):
        held = case["values"][name]
        held["digits"] = str(Decimal(held["digits"]) * (1 + Decimal("2e-11")))

    spoiled(monkeypatch, test, change)
    assert main(["verify"]) == 3
    assert f"{test}-004: " in capsys.readouterr().err


@pytest.mark.long
def test_a_file_and_a_case_that_are_missing_are_failures(monkeypatch, capsys):
    assert reference_set.lacking() == []
    files = dict(reference_set.tables())
    del files["fuzzy.efficiency_test"]
    table = json.loads(files["clopper_pearson"])
    table["cases"][-1] = table["cases"][0]
    files["clopper_pearson"] = json.dumps(table).encode()
    monkeypatch.setattr(reference_set, "tables", lambda: files)
    wanted = [
        "clopper_pearson: 33 cases of the reference set are there; expected 34",
        "fuzzy.efficiency_test: 0 cases of the reference set are there; expected 30",
    ]
    assert sorted(reference_set.lacking()) == wanted
    assert main(["verify"]) == 3
    assert all(line in capsys.readouterr().err for line in wanted[:1])


@pytest.mark.usefixtures("digits_alone")
def test_a_test_that_fails_has_no_digit_right(monkeypatch, capsys):
    spoiled(monkeypatch, "homogeneity_test", lambda case: case["arguments"].update(counts_a=[-1, 2]))
    assert main(["verify"]) == 3
    assert "homogeneity_test-004: 0.0 digits are right, 11 are promised (ValueError: " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("found", "certified", "digits"),
    [(0.5, "0.5", 15.9), (0.0, "1e-400", 15.9), (0.0, "1e-300", 0.0), (float("nan"), "0.5", 0.0), (1.001, "1", 3.0)],
)
def test_the_log_relative_error(found, certified, digits):
    assert reference_set.correct_digits(found, Decimal(certified)) == pytest.approx(digits, abs=0.01)


def test_a_logarithm_has_the_digits_of_its_value():
    certified = Decimal("3.25e-5000")
    right = math.log10(3.25) - 5000
    assert reference_set.correct_digits_of_logarithm(right, certified) > 12
    assert reference_set.correct_digits_of_logarithm(right + 1e-8, certified) == pytest.approx(7.6, abs=0.1)


def test_the_page_says_how_large_the_set_is():
    count = sum(len(table["cases"]) for table in FILES.values())
    assert f"{count} cases" in (ROOT / "docs" / "verify.md").read_text(encoding="utf-8")
