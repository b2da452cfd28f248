"""Every kind of page on a desk, a tablet and a phone, light and dark, in headless Chromium."""

import json
import re
from html import escape, unescape

import pandas as pd
import pytest

from sigstats.flows.commands import main

from ...programs import needs
from .. import test_golden
from ..browser import CHROMIUM, open_page

WIDTHS = (1280, 768, 390)

#: Of each frame: what reaches beyond it, text of little contrast (WCAG 2.2, 1.4.3), and text too small to be read.
MEASURE = """
const luminance = (rgb) => {
  const linear = (v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  const [r, g, b] = rgb.slice(0, 3).map((v) => linear(v / 255));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const parts = (colour) => (colour.match(/[\\d.]+/g) || []).map(Number);
const seen = (colour) => { const p = parts(colour); return p.length === 3 || p[3] > 0; };
const behind = (element) => {
  for (let e = element; e; e = e.parentElement) {
    const colour = getComputedStyle(e).backgroundColor;
    if (seen(colour)) return parts(colour);
  }
  return [255, 255, 255];
};
const found = [];
for (const frame of document.querySelectorAll("iframe")) {
  const inside = frame.contentDocument;
  inside.querySelectorAll("details").forEach((each) => (each.open = true));
  const name = (e) => `${e.tagName} ${e.className.baseVal ?? e.className}: ${e.textContent.slice(0, 40)}`;
  const wide = [];
  const width = inside.documentElement.scrollWidth;
  if (width > frame.clientWidth) wide.push(`the page is ${width} wide`);
  for (const e of inside.querySelectorAll("svg")) {
    const box = e.getBoundingClientRect();
    if (box.right > frame.clientWidth + 0.5 || box.left < -0.5) wide.push(name(e));
  }
  const pale = [];
  const small = [];
  const walker = inside.createTreeWalker(inside.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const e = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !e.getClientRects().length || e.closest("title, desc, script")) continue;
    const style = getComputedStyle(e);
    const ink = parts(e.closest("svg") ? style.fill : style.color);
    if (e.closest("svg") && parseFloat(style.fontSize) * e.getScreenCTM().a < 6.5) small.push(name(e));
    const [low, high] = [luminance(ink), luminance(behind(e))].sort((a, b) => a - b);
    const contrast = (high + 0.05) / (low + 0.05);
    if (contrast < 4.5) pale.push(`${contrast.toFixed(2)} ${name(e)}`);
  }
  const scheme = getComputedStyle(inside.body).backgroundColor;
  const texts = inside.body.innerText.length;
  const [far, dim, tiny] = [wide, pale, small].map((each) => each.slice(0, 5));
  found.push({ page: frame.title, wide: far, pale: dim, small: tiny, scheme, texts });
}
document.body.replaceChildren(JSON.stringify(found));
"""


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """A page of each kind, with its name."""
    folder = tmp_path_factory.mktemp("pages")
    test_golden.make_inputs(folder)
    for name in ("tables", "benchmark", "drawn", "trained", "folds", "scores", "regression"):
        test_golden.run(name, folder)
    files = [str(folder / f"{name}.csv") for name in ("baseline", "candidate-1")]
    sliced = ["--slice", "region"]
    main(["compare", *files, *sliced, "--measure", "accuracy", "--measure", "macro-f1", "--report", f"{folder}/c.html"])
    main(["compare", *files, files[1], "--report", f"{folder}/candidates.html"])
    main(["rank", *files, *sliced, "--report", f"{folder}/rank.html"])
    (folder / "votes.csv").write_text("model_a,model_b,winner\n" + "x,y,x\ny,z,y\nz,x,z\nx,w,x\n" * 30)
    main(["rank", f"{folder}/votes.csv", "--report", f"{folder}/votes.html"])
    for file in files:
        judged = pd.read_csv(file).assign(human=lambda frame: (frame.label < 2).where(frame.id < 30).astype(float))
        judged.to_csv(file.replace(".csv", "-judged.csv"), index=False)
    sides = [file.replace(".csv", "-judged.csv") for file in files]
    main(["compare", *sides, "--human", "human", "--report", f"{folder}/judge.html"])
    return {str(path.relative_to(folder)): path.read_text() for path in sorted(folder.rglob("*.html"))}


@pytest.mark.long
@needs(CHROMIUM, "chromium")
@pytest.mark.processes
@pytest.mark.parametrize("dark", [False, True])
def test_nothing_is_wider_than_the_screen_and_every_text_can_be_read(pages, dark, tmp_path):
    frames = [
        f'<iframe title="{name} at {width}" style="border:0;width:{width}px" srcdoc="{escape(text)}"></iframe>'
        for name, text in pages.items()
        for width in WIDTHS
    ]
    script = f"<script>addEventListener('load', () => {{{MEASURE}}})</script>"
    scheme = '<!doctype html><meta name="color-scheme" content="light dark">'
    (tmp_path / "frames.html").write_text(f"{scheme}<body>{''.join(frames)}{script}</body>")
    opened = open_page((tmp_path / "frames.html").as_uri(), tmp_path, size=(1400, 1000), dark=dark)
    found = json.loads(unescape(re.search(r"<body>(.*)</body>", opened.dom, re.DOTALL)[1]))
    assert len(found) == len(pages) * len(WIDTHS) >= 36
    assert min(each["texts"] for each in found) > 200
    assert len({each["scheme"] for each in found}) == 1
    assert (found[0]["scheme"] == "rgb(255, 255, 255)") is not dark
    assert not [each for each in found if each["wide"] or each["pale"] or each["small"]]
