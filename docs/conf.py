"""How `make docs` turns these pages and the docstrings of the package into a site."""

import importlib.metadata
import re
from pathlib import Path

from sphinx.application import Sphinx

project = "sigstats"
author = project_copyright = "the sigstats developers"
release = importlib.metadata.version("sigstats")

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
]
TABLES = "generated/tables.rst"
exclude_patterns = ["_build", TABLES]
smartquotes = False  # calls stand in tables and prose as they are typed
nitpicky = True
nitpick_ignore_regex = [("py:obj", r"(?!sigstats\.).*")]  # a parameter in backticks is no link

# The pages are written for GitHub's reader too.
myst_enable_extensions = ["dollarmath", "deflist"]
myst_fence_as_directive = ["math"]
myst_heading_anchors = 4


def sections() -> dict[str, str]:
    """Where methods.md tells of each public name: the anchors of its headings."""
    headings = re.findall(r"^### (.*`.*)$", Path(__file__).with_name("methods.md").read_text("utf-8"), re.MULTILINE)
    anchors = {heading: re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}
    return {name: anchors[heading] for heading in headings for name in re.findall(r"`(\w+)`", heading)}


autosummary_generate = [TABLES]
autosummary_context = {"sections": sections()}
autosummary_imported_members = True
autodoc_typehints = "none"
add_module_names = False
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
default_role = "autolink"  # `name` in a docstring is a link where there is such a name

html_theme = "pydata_sphinx_theme"
html_title = "sigstats"
html_sidebars = {page: [] for page in ("tutorial", "methods")}  # they have no pages below them
html_theme_options = {
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
templates_path = ["_templates"]
html_static_path = ["_static"]
html_css_files = ["wide.css"]
html_show_sourcelink = False
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True


#: A link of a page to a file outside of docs/, which is a page itself: the changelog, a measurement.
OUTSIDE = re.compile(r"(\[[^]]*\])\(\.\./([^)#\s]+\.md)(#[^)\s]*)?\)")
COPIES = "generated/outside"
#: A list of the names of a module in reference.md, and the title of its section.
NAMES = re.compile(r"^## (.+)\n((?:(?!#).*\n)+?)<!-- names of (\S+) -->\n\n((?:- .*\n)+)", re.MULTILINE)


def copy_outside(_app: Sphinx) -> None:
    """Copy the pages outside of docs/ to which one in it links, so that the site has them as pages."""
    docs = Path(__file__).parent
    linked = {link[2] for page in docs.glob("*.md") for link in OUTSIDE.finditer(page.read_text("utf-8"))}
    for name in sorted(linked):
        text = (docs.parent / name).read_text("utf-8")
        text = re.sub(r"\A(?!#)(.*?)\.?\n", r"# \1\n", text).replace("](docs/", "](/").replace("](../docs/", "](/")
        text = f"---\norphan: true\n---\n\n{text}"
        copy = docs / COPIES / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        if not copy.exists() or copy.read_text("utf-8") != text:  # else it is read anew
            copy.write_text(text, "utf-8")


def table(section: re.Match[str], folder: str = "generated") -> str:
    """The names of a section of reference.md as a table of Sphinx, with a page for each in a folder."""
    names = "\n   ".join(re.findall(r"^- \[`(\w+)`\]", section[4], re.MULTILINE))
    options = f":toctree: {folder}\n   :caption: {section[1]}\n   :nosignatures:"
    return f".. currentmodule:: {section[3]}\n.. autosummary::\n   {options}\n\n   {names}\n"


def write_tables(app: Sphinx, _config: object) -> None:
    """Write the tables of reference.md to a file, since Sphinx makes the pages of names before it reads a page."""
    reference = Path(app.srcdir, "reference.md").read_text("utf-8")
    file = Path(app.srcdir, TABLES)
    file.parent.mkdir(exist_ok=True)
    file.write_text("\n".join(table(section, ".") for section in NAMES.finditer(reference)), "utf-8")


def as_myst(_app: Sphinx, _page: str, source: list[str]) -> None:
    """Turn what only GitHub reads into what MyST reads: formulas within a line, links to files outside of docs/."""
    text = re.sub(r"\n\n```\n", "\n```\n", source[0])  # the blank line that ends a doctest
    text = NAMES.sub(lambda section: f"## {section[1]}\n{section[2]}```{{eval-rst}}\n{table(section)}```\n", text)
    text = re.sub(r"\$`(.+?)`\$", r"$\1$", text)
    text = OUTSIDE.sub(rf"\1(/{COPIES}/\2\3)", text)
    text = re.sub(r"(?<!!)(\[[^]]*\])\((\.\./[^)#\s]+\.[a-z]+)(#[^)\s]*)?\)", r"\1(path:\2)", text)
    source[0] = re.sub(r"\[([^]]+)\]\(\.\./[^)\s]+/\)", r"`\1`", text)


def setup(app: Sphinx) -> None:
    """Read pages by `as_myst`, those outside of docs/ too."""
    app.connect("config-inited", write_tables)
    app.connect("builder-inited", copy_outside)
    app.connect("source-read", as_myst)
