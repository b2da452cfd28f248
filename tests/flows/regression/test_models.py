"""One page over the outputs of several regression studies, each of its own model."""

import re

import pytest

from sigstats.flows.commands import main

from ..conftest import study_file
from .test_bar import STUDY, night


@pytest.fixture
def outputs(tmp_path):
    """Two models, the second of which is worse in its second night."""
    study_file(tmp_path, STUDY, "nightly.toml")
    for model, shares in {"ranker": (0.9, 0.95), "spam": (0.95, 0.6)}.items():
        for number, share in enumerate(shares, start=1):
            night(tmp_path, number, share)
            main(["run", str(tmp_path / "nightly.toml"), "--output", str(tmp_path / model), "--set", f'name="{model}"'])
        for path in tmp_path.glob("model-*.csv"):
            path.unlink()
    return [str(tmp_path / model) for model in ("ranker", "spam")]


def test_the_page_begins_with_the_worst_model_and_links_to_each_report(outputs, tmp_path):
    (tmp_path / "pages").mkdir()
    page = tmp_path / "pages/models.html"
    assert main(["report", *outputs, "--report", str(page)]) == 0
    text = page.read_text()
    assert "FAIL</span> 1 of 2 models worse: spam</h1>" in text
    links = re.findall(r'<a href="([^"]*)">', text)
    assert links == ["../spam/report.html", "../ranker/report.html"]
    assert text.count("<b>Fault.</b> accuracy on all rows failed (evaluation 2, ") == 1
    ids = re.findall(r' id="([^"]*)"', text)
    assert len(ids) == len(set(ids))
    assert text.count("<svg") == 2


def test_outputs_of_other_studies_have_no_such_page(outputs, tmp_path, refused):
    (tmp_path / outputs[0] / "study.json").write_text('{"study": {"kind": "benchmark"}}')
    page = tmp_path / "models.html"
    assert main(["report", *outputs[::-1], "--report", str(page)]) == 2
    assert not page.exists()
    assert "nowhere/models.html: cannot be written" in refused(
        "report", outputs[1], "--report", tmp_path / "nowhere/models.html"
    )
