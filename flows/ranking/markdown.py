"""A leaderboard as Markdown, fit for a pull request."""

from sigstats.ranking.result import Ranking

from ..escaping import for_markdown, for_markdown_cell
from .words import basis, cells_of, header_of, headline, ranks_of


def as_markdown(found: Ranking) -> str:
    """A headline, the table of models, and the ranks in each slice."""
    lines = [f"### {for_markdown(headline(found))}", "", f"{for_markdown(basis(found))}.", ""]
    lines += _table(header_of(found), [cells_of(model, found.n) for model in found.models])
    if found.slices:
        tested = [each for each in found.slices if each.models]
        ranks = [{model.model: ranks_of(model) for model in each.models} for each in tested]
        names = ["model", *(f"{each.slice} ({each.n:,})" for each in tested)]
        lines += ["", "Ranks in each slice:", ""]
        lines += _table(names, [[model.model, *(of[model.model] for of in ranks)] for model in found.models])
        lines += [f"\nNot ranked: {for_markdown(each.slice)}, {each.note}." for each in found.slices if each.note]
    lines += [f"\nNote: {for_markdown(note)}." for note in found.notes]
    return "\n".join(lines)


def _table(header: "tuple[str, ...] | list[str]", rows: "list[tuple[str, ...]] | list[list[str]]") -> list[str]:
    lines = [f"| {' | '.join(map(for_markdown_cell, header))} |", "|" + "---|" * len(header)]
    return lines + [f"| {' | '.join(map(for_markdown_cell, row))} |" for row in rows]
