"""Write docs/glossary.md from the glossary of the program's pages.

    python tools/glossary.py

`tests/flows/pages/test_glossary.py` holds that the page is what this writes.
"""

from pathlib import Path

from sigstats.flows.pages.glossary import GLOSSARY

PAGE = Path(__file__).parents[1] / "docs" / "glossary.md"

HEAD = """# Glossary

The words of reports, messages and these documents, in plain words. Each page that `sigstats` writes ends with those
that it uses.
"""


def written() -> str:
    """The page."""
    terms = sorted(GLOSSARY.items(), key=lambda each: each[0].lower())
    return HEAD + "".join(f"\n{term}\n: {meaning}\n" for term, meaning in terms)


if __name__ == "__main__":
    PAGE.write_text(written(), encoding="utf-8")
