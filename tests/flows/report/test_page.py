"""The report: what it says, that it is whole, harmless, repeatable and light."""

import hashlib
import math
import os
import re
import subprocess
import sys
import tomllib
from base64 import b64encode
from collections import Counter
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sigstats.flows.pages.page import source
from sigstats.flows.report import page as report
from sigstats.flows.report import sections
from sigstats.flows.report.evidence import Evidence
from sigstats.flows.report.page import config_as_toml
from sigstats.tasks.results import Results
from sigstats.tasks.schema import Hypothesis, summary_table
from sigstats.tasks.storage.store import Store

from ...examples import examples
from ...programs import needs
from ..browser import CHROMIUM, open_page
from ..synthetic_study import CLASSIFIERS, CONFIG, DATASETS, VERSIONS, make_study

VOID = {"meta", "link", "br", "img", "input", "hr"}
LOST = ("digits", "linear-svm", "features")


class Page(HTMLParser):
    """The elements of a page; fails where tags are not balanced."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[tuple[str, ...], str]] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if data.strip():
            self.texts.append((tuple(self.open), data))

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]

    def plain(self, *inside: str) -> str:
        """The text in these elements, with plain single spaces."""
        found = (text for path, text in self.texts if set(inside) <= set(path) and not {"style", "script"} & set(path))
        return re.sub(r"\s+", " ", " ".join(found))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    store = make_study(tmp_path_factory.mktemp("study") / "out", lost=(LOST,))
    (cell,) = (cell for cell in Results(store).plan.cells if tuple(cell.subject.values()) == LOST)
    whole = Results(store).plan.cells[0]
    failed = {
        "first": 0,
        "block": "0-10",
        "last": 10,
        "error": "MemoryError",
        "message": "3.2 GiB are too many",
        "traceback": "Trace <1>",
    }
    store.write_json(f"receipts/{cell.name}.json", {"failures": [failed]})
    store.write_json(f"receipts/{whole.name}.json", {"failures": [{**failed, "message": "mended since"}]})
    report.write_report(store)
    return store


@pytest.fixture(scope="module")
def text(store: Store) -> str:
    return store.files.read("report.html").decode()


@pytest.fixture(scope="module")
def page(text: str) -> Page:
    return Page(text)


def test_a_person_reads_problems_then_verdicts_then_figures_then_tables(page: Page) -> None:
    whole = page.plain("body")
    marks = [
        "This study is not complete",
        "All 4 classifiers learned",
        "Errors under the null",
        "all 16 hypotheses",
        "seed = 20",
    ]
    places = [whole.index(mark) for mark in marks]
    assert places == sorted(places)


def test_a_failed_cell_is_named_with_its_error_and_one_that_was_mended_is_not(page: Page) -> None:
    whole = page.plain("body")
    assert "linear-svm on digits, retrains (features): failed with MemoryError: 3.2 GiB are too many" in whole
    assert "Trace <1>" in whole
    assert "1 of 72 results is missing: PermFeats of linear-svm on digits." in whole
    assert "mended since" not in whole


def test_hundreds_of_cells_that_are_not_finished_do_not_push_the_verdicts_away(tmp_path: Path) -> None:
    lost = [(dataset, name, null) for dataset in DATASETS for name in CLASSIFIERS for null in ("labels", "features")]
    store = make_study(tmp_path, lost=lost)
    written = report.render(Evidence(Results(store)), config=CONFIG, versions=VERSIONS)
    box = written[written.index('<div class="problems">') :]
    before, _, folded = box[: box.index("</div>")].partition("<summary>")
    assert before.count(": not finished.") == 1
    assert folded.startswith("31 more")
    assert folded.count(": not finished.") == 31


def test_notes_of_the_study_stand_below_the_first_screen_and_do_not_alter_its_identity(tmp_path: Path) -> None:
    store = make_study(tmp_path / "out", lost=())
    study = store.read_json("study.json")
    store.write_json("study.json", {**study, "notes": ["iris: 3 of 9 rows <equal> others"]})
    report.write_report(store)
    whole = Page(store.files.read("report.html").decode()).plain("body")
    assert whole.index("What to do") < whole.index("Note: iris: 3 of 9 rows <equal> others.") < whole.index("Tables")


def test_advice_of_more_data_goes_by_the_unit_of_the_test() -> None:
    base = Hypothesis(study="s", cell="c", test="mcnemar", method="m", alternative="a", null_hypothesis="h")
    kept = [base.with_(decision="keep", test=test) for test in ("mcnemar", "signed-rank")]
    units = {row.test: sections.section_without_module(row.test).unit for row in kept}
    assert "and more rows may show a difference (sigstats size)." in report._more_units(kept[:1], units)
    assert report._more_units(kept[1:], units).endswith("and more data sets may show a difference.")
    assert "more rows or more data sets may show a difference (sigstats size)" in report._more_units(kept, units)


def test_an_interrupted_study_names_what_is_not_finished(tmp_path: Path) -> None:
    lost: list[tuple[str, ...]] = [("iris", "1-nn"), ("iris", "1-nn", "labels")]
    store = make_study(tmp_path, datasets=["iris"], lost=lost)
    whole = Page(report.render(Evidence(Results(store)), config=CONFIG, versions=VERSIONS)).plain("body")
    assert "1-nn on iris, cross-validation: not finished." in whole
    assert "Not finished: 1-nn on iris." in whole  # below the first figure
    assert "1-nn on iris, retrains (labels): not finished." in whole
    assert "linear-svm on iris, retrains" not in whole  # its own cells are all there
    assert "1-nn on iris, retrains (features): not finished." not in whole
    # without the observed run there is neither permutation test nor comparison with the three others
    assert "6 of 18 results are missing" in whole
    assert "In all 3 complete cases" in whole
    assert "3 of 4 cross-validations are complete; the best classifier of a data set is known once all are" in whole
    assert "What to do. Run this study again: sigstats run STUDY --output OUTPUT, both as before, computes" in whole
    assert "1 data set, 4 classifiers, 18 hypotheses." in whole
    assert not re.search(r"the best on|\btake\b|more rows may tell", whole)


def test_the_best_of_a_finished_data_set_is_named_beside_one_that_is_not(tmp_path: Path) -> None:
    store = make_study(tmp_path, datasets=["iris", "wine"], lost=[("iris", "1-nn")])
    whole = Page(report.render(Evidence(Results(store)), config=CONFIG, versions=VERSIONS)).plain("body")
    assert re.search(r"is (best|ahead) on wine", whole)
    assert not re.search(r"is (best|ahead) on iris", whole)
    to_do = whole[whole.index("What to do.") :]
    assert to_do.index("Run this study again") < to_do.index("On wine take")
    assert "iris take" not in whole


def test_a_study_without_any_result_has_a_report(tmp_path: Path) -> None:
    lost = [(d, c, *null) for d in ("iris",) for c in CLASSIFIERS for null in ((), ("labels",), ("features",))]
    store = make_study(tmp_path, datasets=["iris"], lost=lost)
    whole = Page(report.render(Evidence(Results(store)), config=CONFIG, versions=VERSIONS)).plain("body")
    assert whole.count("There is no result: every") == 4


def test_the_floor_of_permutations_is_marked(page: Page) -> None:
    # 999 permutations, none as extreme: p = 1/1000, which more permutations may lower; Holm multiplies by 16.
    assert (
        "All 4 classifiers learned real class structure on all 4 data sets (PermClass, Holm-adjusted p ≤ 0.016)."
        in page.plain()
    )
    cells = [text for path, text in page.texts if path[-1] == "td"]
    assert "≤\xa00.001" in cells
    assert "0–0.0053" in cells  # Clopper-Pearson for 0 of 999: 1 - 0.005 ** (1 / 999) = 0.00529
    assert "0.001" not in cells


NASTY = "<script>alert(1)</script>"
NASTIER = '"><img src=http://evil.example/x onerror=alert(1)>'


def test_names_from_data_are_harmless(tmp_path: Path) -> None:
    store = make_study(tmp_path, datasets=[NASTY, "{{ 7 * 7 }}"], classifiers=[NASTIER, "naive-bayes"], lost=())
    results = Results(store)
    failures = [{"block": f"{results.plan.cells[0].name}/0-1", "error": NASTY, "message": NASTIER, "traceback": NASTY}]
    text = report.render(
        Evidence(results),
        config={"name": NASTY, NASTIER: [NASTY]},
        versions={NASTY: NASTIER},
        failures=failures,
        fingerprint=NASTY,
    )
    page = Page(text)
    assert len(page.all("script")) == 1
    assert not page.all("img")
    assert not [name for _, attributes in page.elements for name in attributes if name.startswith("on")]
    assert NASTY in page.plain("body")  # shown as it is named
    assert "{{ 7 * 7 }}" in page.plain("body")


def test_failures_are_harmless(tmp_path: Path) -> None:
    store = make_study(tmp_path, datasets=["iris"], lost=(("iris", "1-nn", "labels"),))
    (cell,) = Results(store).cells("retrain", classifier="1-nn", null="labels")
    failed = {"block": f"{cell.name}/0-1", "error": NASTY, "message": NASTIER, "traceback": NASTIER + "\ud800"}
    store.write_json(f"receipts/{cell.name}.json", {"failures": [failed]})
    report.write_report(store)
    page = Page(store.files.read("report.html").decode())
    assert len(page.all("script")) == 1
    assert not page.all("img")
    assert NASTIER in page.plain("details")


def test_the_page_needs_no_network(page: Page, text: str) -> None:
    for tag, attributes in page.elements:
        for name in ("src", "href", "action", "data", "poster", "srcset", "xlink:href"):
            value = attributes.get(name)
            assert value is None or value.startswith(("#", "data:,")), (tag, name, value)
    assert "url(" not in text
    assert "@import" not in text
    (policy,) = (meta["content"] for meta in page.all("meta") if meta.get("http-equiv") == "Content-Security-Policy")
    script = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    assert policy is not None
    assert policy.startswith("default-src 'none'")
    assert b64encode(hashlib.sha256(script[0].encode()).digest()).decode() in policy


def test_the_page_is_sound(page: Page) -> None:
    names = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert max(Counter(names).values()) == 1
    for _, attributes in page.elements:
        for name in (attributes.get("aria-labelledby") or "").split():
            assert name in names
        link = attributes.get("href") or ""
        assert not link.startswith("#") or link[1:] in names
    levels = [int(tag[1]) for tag, _ in page.elements if re.fullmatch("h[1-6]", tag)]
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert all(header.get("scope") in ("row", "col") for header in page.all("th"))
    drawings = page.all("svg")
    permutations = 2 * len(DATASETS) * len(CLASSIFIERS) - len([LOST])
    assert len(drawings) == permutations + len(DATASETS) + len(["mean ranks", "probabilities"])
    assert all(drawing.get("role") == "img" and drawing.get("aria-labelledby") for drawing in drawings)
    assert page.elements[0] == ("html", {"lang": "en"})


def test_every_hypothesis_has_its_line(page: Page, store: Store) -> None:
    bodies = Counter(path.count("tbody") for path, _ in page.texts if path[-1] == "td")
    assert bodies[1]
    keys = [attributes for attributes in page.all("td") if "data-key" in attributes]
    assert all(math.isfinite(float(key["data-key"] or "")) for key in keys)
    tables = re.findall(r"<h3 id=\"table-\d\">.*?</table>", store.files.read("report.html").decode(), re.DOTALL)
    assert [table.count("<tr>") - 1 for table in tables] == [16, 16, 16, 24]


def test_a_sentence_has_a_number_in_its_column_and_stands_below_the_table(tmp_path: Path) -> None:
    results = Results(make_study(tmp_path, datasets=["iris"], classifiers=["1-nn", "naive-bayes"], lost=()))
    (row,) = Evidence(results).rows_of("mcnemar")
    notes = ("b & c", "", "a", "b & c")
    results.__dict__["summary"] = summary_table([row.with_(dataset=f"d{i}", note=note) for i, note in enumerate(notes)])
    text = report.render(Evidence(results), config=CONFIG, versions=VERSIONS)
    lines = re.findall(r"<tr><td[^>]*>(d\d)</td>.*<td([^>]*)>([^<]*)</td></tr>", text)
    assert lines == [
        ("d0", ' title="b &amp; c"', "1"),
        ("d1", "", ""),
        ("d2", ' title="a"', "2"),
        ("d3", lines[0][1], "1"),
    ]
    below = text.partition('<ol class="notes">')[2].partition("</ol>")[0]
    assert re.findall("<li>(.*?)</li>", below) == ["b &amp; c", "a"]


@pytest.mark.long
def test_equal_results_give_equal_bytes(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from tests.flows.synthetic_study import make_study; "
        "from sigstats.flows.report.page import write_report; "
        "write_report(make_study(Path(sys.argv[1]), datasets=['iris', 'wine'], replicates=99))"
    )
    there, here = tmp_path / "there", tmp_path / "here"
    subprocess.run(
        [sys.executable, "-c", code, str(there)],
        check=True,
        cwd=Path(__file__).parents[3],
        env={**os.environ, "PYTHONHASHSEED": "1", "TZ": "UTC5:37", "LC_ALL": "C"},  # this process has others
    )
    report.write_report(make_study(here, datasets=["iris", "wine"], replicates=99))
    pages = [(root / "report.html").read_bytes() for root in (there, here)]
    assert pages[0] == pages[1]
    assert str(tmp_path).encode() not in pages[0]


@pytest.mark.long
def test_two_hundred_histograms_are_light(tmp_path: Path) -> None:
    store = make_study(tmp_path, datasets=[f"data-{i}" for i in range(25)], lost=())
    text = report.render(Evidence(Results(store)), config=CONFIG, versions=VERSIONS)
    assert text.count('<svg viewBox="0 0 236') == 2 * 25 * len(CLASSIFIERS)
    assert text.count('aria-labelledby="accuracy-') == 12  # the others are numbers alone
    assert len(text.encode()) < 1_000_000


@pytest.mark.long
def test_the_report_starts_without_the_engine() -> None:
    code = "import sys, sigstats.flows.report.page; print([m for m in %r if m in sys.modules])"
    heavy = ["prefect", "dask", "distributed", "matplotlib", "sklearn", "pandas"]
    done = subprocess.run([sys.executable, "-c", code % heavy], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"


def test_a_study_in_an_object_store(tmp_path: Path) -> None:
    source = make_study(tmp_path, datasets=["iris"], lost=())
    target = Store("memory://a-report")
    for file in tmp_path.rglob("*.*"):
        if file.is_file():
            target.files.write(str(file.relative_to(tmp_path)), file.read_bytes())
    assert report.write_report(target) == "memory://a-report/report.html"
    report.write_report(source)
    assert target.files.read("report.html") == source.files.read("report.html")


def test_without_a_summary_there_is_no_report(tmp_path: Path) -> None:
    store = make_study(tmp_path, datasets=["iris"], lost=())
    store.write_json("study.json", {"notes": None})  # as an older version wrote it
    report.write_report(store)
    store.files.remove("summary.parquet")
    with pytest.raises(FileNotFoundError):
        report.write_report(store)


@pytest.mark.parametrize("part", [":root {", "prefers-color-scheme: dark"])
def test_colours_have_contrast(part: str) -> None:
    style = source("report.css")
    colours = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", style[style.index(part) :].split("}")[0]))
    assert len(colours) > 20
    pairs = [(colours[f"{name}-ink"], colours[name]) for name in colours if f"{name}-ink" in colours]
    surfaces = ("page", "panel", "warn")
    pairs += [(colours[ink], colours[surface]) for ink in ("ink", "link") for surface in surfaces]
    pairs += [(colours[ink], colours["page"]) for ink in ("quiet", "observed")]
    assert min(_contrast(*pair) for pair in pairs) >= 4.5  # WCAG 2.2, 1.4.3
    assert min(_contrast(colours[mark], colours["page"]) for mark in ("extreme", "observed")) >= 3  # 1.4.11


def _contrast(one: str, other: str) -> float:
    def luminance(colour: str) -> float:
        parts = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def test_the_configuration_on_the_page_is_the_study(page: Page) -> None:
    (shown,) = (text for path, text in page.texts if path[-1] == "pre" and "kind" in text)
    assert tomllib.loads(shown) == CONFIG
    assert shown.startswith('kind = "benchmark"\nname = "synthetic"\nseed = 20\n')


plain = st.one_of(
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False),
    st.text(st.characters(codec="utf-8"), max_size=40),
)
values = st.recursive(
    plain,
    lambda inner: (
        st.lists(inner, max_size=6)
        | st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)


@pytest.mark.long
@settings(deadline=None, derandomize=True, max_examples=examples(100))
@given(st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=12), values, max_size=6))
def test_any_configuration_reads_back(config: dict[str, Any]) -> None:
    assert tomllib.loads(config_as_toml(config)) == config


def test_what_is_none_is_not_in_the_configuration() -> None:
    config = {"slice": None, "permutation": {"resamples": 999, "rule": None}, "sets": [None, "a"], "kind": "benchmark"}
    shown = config_as_toml(config)
    assert shown == 'kind = "benchmark"\nsets = ["a"]\n\n[permutation]\nresamples = 999'


@pytest.mark.long
@needs(CHROMIUM, "chromium")
@pytest.mark.processes
def test_a_browser_runs_the_page_without_complaint_or_request(store: Store, tmp_path: Path) -> None:
    opened = open_page(f"file://{store.root}/report.html", tmp_path)
    assert opened.console == []
    headings = re.findall(
        r'<th scope="col"[^>]*>(.)', opened.dom.partition('<section id="tables">')[2].partition("</section>")[0]
    )
    assert len(headings) > 40
    assert set(headings) == {"<"}  # the script ran: each holds a button
    assert opened.hosts == set()
