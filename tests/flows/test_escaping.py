"""Text of data: what a terminal, Markdown or a page would obey in it is shown, and not obeyed."""

import json
import re
import unicodedata
from dataclasses import replace
from functools import cache, partial
from xml.etree import ElementTree as ET

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from sigstats import ComparisonRule, compare
from sigstats._common.messages import Note, for_markdown, for_markdown_cell, markdown_code, printable, printable_words
from sigstats._common.validation import refuse
from sigstats.flows.commands import main
from sigstats.flows.comparison.for_programs import as_json, as_junit
from sigstats.flows.comparison.markdown import as_markdown
from sigstats.flows.comparison.page import as_html
from sigstats.flows.comparison.text import as_text

HOSTILE = [
    "\x1b[2J\x1b]0;title\x07",
    "\x1b]8;;http://evil.example\x1b\\click\x1b]8;;\x1b\\",
    "\x9b2J\x90q\x9c",
    "invoice\u202egnp.exe",
    "\u2066a\u2069\u200b\ufeff",
    "a\udc9bb",
    "@torvalds and foo@bar.example",
    "#1 GH-12 org/repo#3 !4 deadbeef0 ~label $x$ :bomb: &amp; &lt;",
    "http://a.example www.b.example ftp://c xmpp:d@e",
    "<img src=x onerror=alert(1)> <!-- --> </script> ]]>",
    "| a | b |\n|---|---|",
    "`code` ``two`` `",
    "\\` \\| \\",
    "*a* _b_ __c__ ~~d~~ [e](f) ![g](h) **",
]

#: Text with the characters that mean something to someone.
ANY = st.text(
    st.one_of(
        st.sampled_from("@#!~$&<>`\\|*_[](){}:/.-+='\" \n\t\x1b\x07\x9b\u202e\u2066\u200b\ufeff\udc80"),
        st.characters(exclude_categories=[]),
        st.sampled_from("aw01GH"),
    ),
    max_size=40,
)


def obeyed(character):
    """By Unicode's own tables: controls, halves of pairs, separators of lines, marks of direction and without width."""
    category = unicodedata.category(character)
    if category == "Cf":
        visible = "ARABIC", "SYRIAC", "KAITHI", "EGYPTIAN", "SHORTHAND", "ZERO WIDTH JOINER", "ZERO WIDTH NON-JOINER"
        name = unicodedata.name(character)
        return not name.startswith(visible) or name == "ARABIC LETTER MARK"
    return category in ("Cc", "Cs", "Zl", "Zp")


def test_every_character_that_is_obeyed_is_written_as_an_escape():
    assigned = [each for each in map(chr, range(0x110000)) if unicodedata.category(each) != "Cn"]
    for first in range(0, len(assigned), 1000):
        characters = assigned[first : first + 1000]
        marks = [each for each in characters if obeyed(each)]
        kept = "".join(each for each in characters if each not in marks)
        assert printable(kept) == kept, hex(ord(characters[0]))
        for character in marks:
            shown = printable(character)
            assert shown.isascii()
            back = shown.encode().decode("unicode_escape")
            assert back == character or back.encode("latin-1").decode("utf-8", "surrogateescape") == character
    assert printable("a\nb\tc\x1b", keep="\n") == "a\nb\\tc\\x1b"


@pytest.mark.parametrize("text", HOSTILE)
def test_a_complaint_has_no_controls(text, capsys):
    assert printable(said := str(refuse("column", text, "another"))) == said
    assert main(["compare", text, f"{text}.csv"]) == 2
    with pytest.raises(SystemExit):
        main(["compare", "--unmatched", text])
    with pytest.raises(SystemExit):
        main([text])
    err = capsys.readouterr().err
    assert printable(err, keep="\n") == err


#: What becomes of each line by the rules of CommonMark and of tables: not by a parser of ours.
PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])

#: What GitHub and GitLab see in text that is no code.
SEEN = re.compile(r"[@#~$]\w|!\d|[a-z]+://|www\.|GH-\d|:\w+:|\b[0-9a-f]{7,40}\b", re.I)


def parts(tokens):
    """The kinds of all tokens within lines, with their content."""
    for token in tokens:
        if token.type == "inline":
            yield from ((child.type, child.content) for child in token.children)


def harmless(source, wanted):
    """That Markdown shows `wanted`, and in no other form than text and code."""
    found = list(parts(PARSER.parse(source)))
    assert {kind for kind, _ in found} <= {"text", "code_inline", "text_special"}
    assert "".join(content for _, content in found) == wanted
    outside = "".join(content if kind != "code_inline" else "\0" for kind, content in found)
    assert not SEEN.search(outside)


@given(ANY)
@example("")
@pytest.mark.parametrize("form", [for_markdown, markdown_code])
def test_markdown_shows_text_as_it_is(form, text):
    wanted = " ".join(printable_words(text))
    shown = form(text)
    assert "\n" not in shown
    if wanted:
        harmless(
            f"worse: {shown}" if form is for_markdown else shown, f"worse: {wanted}" if form is for_markdown else wanted
        )


@given(ANY, ANY)
def test_a_cell_stays_a_cell(first, second):
    table = PARSER.parse(f"| a | b |\n|---|---|\n| {for_markdown_cell(first)} | {for_markdown_cell(second)} |")
    rows = [token for token in table if token.type == "td_open"]
    assert len(rows) == 2
    cells = [token for token in table if token.type == "inline"][2:]
    for cell, text in zip(cells, (first, second), strict=True):
        assert "".join(child.content for child in cell.children) == " ".join(printable_words(text))
        assert {child.type for child in cell.children} <= {"text", "code_inline", "text_special"}


@cache
def found(text):
    """A comparison of which slices, their values and a note are `text`, with a row that fails and one not tested."""
    y = ["b", "c"] * 40
    first = f"a{text}"  # in the order of names, too
    slices = {first: [first] * 41 + ["rest"] * 39, "few": [first, first] + ["many"] * 78}
    result = compare(y, y, ["b"] * 80, slices=slices, rule=ComparisonRule(smallest_slice=5))
    assert {row.verdict for row in result.rows} == {"fail", None}
    return replace(result, notes=(*result.notes, Note("a-note", text)))


#: Text of one line at least, as a name that is read from a file has.
NAME = ANY.filter(str.strip)

FORMS = [
    as_markdown,
    as_junit,
    as_html,
    as_json,
    partial(as_text, width=100),
    partial(as_text, width=100, colours=True),
]


def shapes(form, written):
    """What a reader of each form sees apart from the text: the structure that data must not change."""
    if form is as_json:
        assert written.isascii()
        return [sorted(row) for row in json.loads(written)["rows"]]
    if form is as_junit:
        root = ET.fromstring(written)
        return [(part.tag, sorted(part.attrib)) for part in root.iter()]
    if form is as_html:  # the glossary at its end names the words of the page, those of the data among them
        return re.findall(r"<[a-z!/][^\s>]*", written.partition('<details class="words">')[0])
    if form is as_markdown:
        for kind, content in parts(PARSER.parse(written)):
            assert kind in ("text", "code_inline", "text_special", "softbreak"), content
            assert kind == "code_inline" or not SEEN.search(content)
        return [token.type for token in PARSER.parse(written) if token.type not in ("inline", "text")]
    return [part for part in re.findall("\x1b\\[[0-9;]*m", written) if part]


@pytest.mark.long
@pytest.mark.parametrize("form", FORMS)
@given(NAME)
@example("power")  # a term of the glossary
@settings(max_examples=15)
def test_a_comparison_obeys_nothing_of_its_data(form, text):
    written, plain = (form(found(name), f"{name}.csv", f"{name}/b.csv") for name in (text, "east"))
    if form not in FORMS[-1:]:
        assert printable(written, keep="\n\t") == written
    if form not in FORMS[-2:]:
        assert shapes(form, written) == shapes(form, plain)
    else:
        assert set(shapes(form, written)) <= set(shapes(form, plain))
        assert printable(re.sub("\x1b\\[[0-9;]*m", "", written), keep="\n") == re.sub("\x1b\\[[0-9;]*m", "", written)


@pytest.mark.long
@pytest.mark.parametrize("text", HOSTILE)
def test_the_examples_too(text):
    test_markdown_shows_text_as_it_is.hypothesis.inner_test(for_markdown, text)
    test_markdown_shows_text_as_it_is.hypothesis.inner_test(markdown_code, text)
    test_a_cell_stays_a_cell.hypothesis.inner_test(text, text)
    for form in FORMS:
        test_a_comparison_obeys_nothing_of_its_data.hypothesis.inner_test(form, text)
