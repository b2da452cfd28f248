"""The figures of a report as objects: they say what the page says, need no page, and save."""

import html
import re
import sys
import xml.etree.ElementTree as ET

import pytest

import sigstats
from sigstats.flows.pages.heat_table import HeatCell, heat_table
from sigstats.flows.report import figures
from sigstats.flows.report.evidence import Evidence
from sigstats.flows.report.section import Figure
from sigstats.flows.report.standalone import standalone

SVG = "{http://www.w3.org/2000/svg}"
BENCHMARK = {
    "kind": "benchmark",
    "datasets": ["iris", "wine"],
    "classifiers": ["lda", "1-nn"],
    "cross_validation": {"folds": 3},
    "permutation": {"resamples": 19},
}
CALIBRATION = {
    "kind": "calibration",
    "sizes": [20, 40, 80],
    "trials": 20,
    "populations": [{"name": "Sturm", "source": "sturm", "classes": 3, "right": [0.0, 0.3]}],
    "tests": [{"test": "mcnemar"}],
}


@pytest.fixture(scope="module")
def benchmark(tmp_path_factory):
    return sigstats.run_study(BENCHMARK, output=tmp_path_factory.mktemp("benchmark"), cluster="serial")


@pytest.fixture(scope="module")
def calibration(tmp_path_factory):
    return sigstats.run_study(CALIBRATION, output=tmp_path_factory.mktemp("calibration"), cluster="serial")


def words(text):
    """The numbers and names of a drawing or a piece of a page, without style and descriptions."""
    root = ET.fromstring(text)
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag.removeprefix(SVG) in ("style", "title", "desc"):
                parent.remove(child)
    return set(re.findall(r"[\w.%−+-]+", " ".join(root.itertext())))


def test_a_mark_stands_apart_from_its_number():
    table = heat_table("c", "l", ["a"], ["b"], lambda a, b: HeatCell("> 0.99", "p4", marked=True, below="1.2"))
    drawn = ET.fromstring(standalone([Figure(title="t", caption="c", body=table)]))
    assert "● > 0.99" in [element.text for element in drawn.iter(f"{SVG}text")]


@pytest.mark.parametrize("study", ["benchmark", "calibration"])
def test_a_figure_says_what_the_page_says_and_needs_no_style_sheet(study, request):
    results = request.getfixturevalue(study)
    assert results.plot.names
    for name in results.plot.names:
        plot = results.plot(name)
        drawn = list(figures.kinds()[name](Evidence(results._results)))
        for figure in drawn:
            assert words(f"<div>{figure.body}</div>") <= words(plot.svg), name
            assert figure.title in plot.title
        assert set(plot.caption.split()) <= set(re.sub("<[^>]*>", " ", html.unescape(plot.svg)).split()), name
        assert "var(" not in plot.svg
        assert "url(" not in plot.svg
        assert plot._repr_svg_() == plot.svg


def test_each_study_has_the_figures_of_its_kind(benchmark, calibration):
    assert benchmark.plot.names == ("grids", "null", "pairs", "permutation-tests")
    assert "power" in calibration.plot.names
    assert "curve c0" in calibration.plot.power().svg


def test_a_figure_is_of_what_was_asked_for(benchmark):
    def panels(plot):
        return len(ET.fromstring(plot.svg).findall(f".//{SVG}svg"))

    assert [panels(benchmark.plot.null(**about)) for about in ({}, {"dataset": "iris"}, {"classifier": "lda"})] == [
        8,
        4,
        4,
    ]
    assert panels(benchmark.plot.null(dataset="wine", classifier="lda")) == 2
    assert "iris" not in words(benchmark.plot.pairs(dataset="wine").svg)


def test_the_style_of_one_figure_is_of_no_other_thing_in_a_notebook(benchmark):
    style = re.search(r"<style>(.*?)</style>", benchmark.plot.null().svg, flags=re.DOTALL)[1]
    selectors = [each for rule in re.findall(r"([^{}]+)\{", style) for each in rule.split(",")]
    assert len(selectors) > 20
    assert all(f"{each.strip()} ".startswith(".sigstats-figure ") for each in selectors)
    # Rules of text inherit the font: the figure itself must name it, and no page around it does.
    assert re.findall(r"(\S[^{}]*\S) \{[^{}]*font-family: (?!inherit)", style) == [".sigstats-figure"]


def test_figures_are_saved(benchmark, tmp_path):
    plot = benchmark.plot.pairs()
    plot.save(tmp_path / "pairs.svg")
    assert (tmp_path / "pairs.svg").read_text() == plot.svg
    try:
        import cairosvg  # noqa: F401
    except (ImportError, OSError) as error:
        pytest.skip(f"the extra png, or the library that it draws with, is not installed: {error}")
    plot.save(tmp_path / "pairs.png")
    assert (tmp_path / "pairs.png").read_bytes().startswith(b"\x89PNG")
    plot.save(tmp_path / "pairs.pdf")
    assert (tmp_path / "pairs.pdf").read_bytes().startswith(b"%PDF")


def test_a_figure_is_of_the_part_that_was_asked_for(tmp_path):
    population = {"name": "two versions", "source": "simulated", "prevalence": [0.5, 0.2], "recall": [0.8]}
    population |= {"precision": [0.8], "difference": [0.1], "dependence": [0.5]}
    tests = [{"test": "mcnemar", "method": method} for method in ("exact", "mid-p")]
    study = {"kind": "calibration", "sizes": [40], "trials": 60, "populations": [population], "tests": tests}
    plot = sigstats.run_study(study, output=tmp_path / "out").plot
    assert plot("paired-rates").title.count("prevalence = ") == 2
    chosen = plot("paired-rates", slice="prevalence = 0.2")
    assert re.findall("prevalence = ([0-9.]*)", chosen.title) == ["0.2"]
    with pytest.raises(ValueError, match=r"slice: 'prevalence = 0.3' is not valid"):
        plot("paired-rates", slice="prevalence = 0.3")


def test_what_cannot_be_drawn_or_saved_is_refused(benchmark, tmp_path, monkeypatch):
    with pytest.raises(ValueError, match="figure: 'power' is not valid; expected one that this study has: grids, null"):
        benchmark.plot.power()
    with pytest.raises(ValueError, match=r"did you mean 'null'\?"):
        benchmark.plot("nul")
    with pytest.raises(ValueError, match=r"dataset: 'irsi' is not valid.*did you mean 'iris'"):
        benchmark.plot.null(dataset="irsi")
    plot = benchmark.plot.pairs()
    with pytest.raises(ValueError, match=r"expected a name that ends with .svg, .png or .pdf"):
        plot.save("pairs.gif")
    with pytest.raises(ValueError, match="cannot be written"):
        plot.save(tmp_path / "nosuch" / "pairs.svg")
    monkeypatch.setitem(sys.modules, "cairosvg", None)
    with pytest.raises(ValueError, match=r".png needs pip install 'sigstats\[png\]'"):
        plot.save(tmp_path / "pairs.png")


def test_a_picture_without_the_library_of_cairosvg_is_refused_by_its_name(benchmark, tmp_path, monkeypatch):
    (tmp_path / "cairosvg.py").write_text("raise OSError('no library called \"cairo-2\" was found')")
    monkeypatch.delitem(sys.modules, "cairosvg", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ValueError, match="needs the library cairo, which CairoSVG did not find"):
        benchmark.plot.pairs().save(tmp_path / "pairs.png")


def test_cells_of_a_table_are_as_wide_as_their_text(tmp_path):
    table = {"name": "ulcers", "counts": [[9, 7, 3], [15, 17, 13], [3, 7, 28]]}
    study = {"kind": "significance", "tables": [table]}
    drawn = ET.fromstring(sigstats.run_study(study, output=tmp_path / "out").plot("counts").svg)
    places = {}
    for group in drawn.iter(f"{SVG}g"):
        for text in group.findall(f"{SVG}text"):
            start = float(group.get("transform").removeprefix("translate(").split()[0])
            places["".join(text.itertext())] = start
    counts, expected = "9 7 3; 15 17 13; 3 7 28", "5.0 5.8 8.2; 11.9 13.7 19.4; 10.1 11.5 16.4"
    assert places[counts] - places["ulcers"] > 5 * len("ulcers")
    assert places[expected] - places[counts] > 5 * len(counts)
