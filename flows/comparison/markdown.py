"""A comparison as Markdown, fit for a pull request."""

from sigstats.comparison.result import ComparisonResult

from .cells import HEADER, cells_of, verdict_of
from .sentences import TITLES, reasons, rule_in_words
from .subjects import rows_in_words, subjects_in_words


def as_markdown(found: ComparisonResult, baseline: str, candidate: str) -> str:
    """A verdict, its reasons and a table."""
    lines = [f"### {TITLES[found.verdict]}", "", f"`{candidate}` against `{baseline}`, {rows_in_words(found)}.", ""]
    lines += [f"- {_plain(line)}" for line in subjects_in_words(found)]
    lines += [f"- {_plain(reason)}" for reason in reasons(found)]
    header = f"| {' | '.join((*HEADER, 'verdict'))} |"
    lines += ["", header, "|" + "---|" * (len(HEADER) + 1)]
    for row in found.rows:
        cells = [_plain(cell) for cell in (*cells_of(row), verdict_of(row))]
        lines.append(f"| {' | '.join(cells)} |")
    rule = _plain(rule_in_words(found.rule, found.measures))
    lines += ["", f"Rule: {rule}. p is of the null hypothesis that the candidate is not worse."]
    lines += [f"Note: {_plain(note)}." for note in found.notes]
    return "\n".join(lines)


def _plain(text: str) -> str:
    """Text that Markdown leaves as it is, in one line."""
    escaped = " ".join(text.split())
    for mark in ("\\", "|", "`", "*", "_", "<", "[", "]"):
        escaped = escaped.replace(mark, "\\" + mark)
    return escaped
