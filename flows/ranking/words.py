"""A leaderboard in words: cells and sentences, and the terminal, Markdown and JSON made of them; names for models."""

import io
import json
import math
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import PurePath
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from sigstats._common.messages import for_markdown, join_words, markdown_table, notes_as_objects, printable, some_of
from sigstats._common.numerals import both_ends, count_of, number, percent, percent_range, significant
from sigstats.comparison.answer import Answer
from sigstats.ranking.means import MEAN_OVER_TASKS
from sigstats.ranking.result import RankedCost, RankedModel, Ranking

#: A sentence names at most this many models.
_NAMED = 5


def cells_of(ranking: Ranking, model: RankedModel) -> tuple[str, ...]:
    """Return the cells of a model under `header_of`."""
    low, high = model.confidence_interval
    if model.accuracy is None:
        between = " to ".join(both_ends(low, high, number, 4))
    else:
        between = percent_range(low, high, ranking.n, to="% to ")
    cells = [ranks_of(model), str(model.tier), model.model, score_of(model, model.score, ranking.n), between]
    for cost in ranking.costs:
        if cost.model == model.model:
            cells += [number(cost.cost, 4), some_of(cost.dominated_by) or "none"]
    return tuple(cells)


def header_of(ranking: Ranking) -> tuple[str, ...]:
    """Return the names of the columns."""
    measure = "score" if ranking.measure == "mean-score" else ranking.measure
    return ("rank", "tier", "model", measure, "interval", *((ranking.cost, "dominated by") if ranking.costs else ()))


def score_of(model: RankedModel, value: float, n: int) -> str:
    """Return the score of a model: a percentage, or a value in its own unit."""
    return number(value, 4) if model.accuracy is None else percent(value, n)


def ranks_of(model: RankedModel) -> str:
    """Return the ranks that a model may have."""
    return str(model.rank_low) if model.rank_low == model.rank_high else f"{model.rank_low}–{model.rank_high}"


def answer_of(ranking: Ranking) -> Answer[Any]:
    """Name the best model, or the possible ones, with advice; also a different first model by the mean over tasks."""
    first, *rest = ranking.tiers
    finding = _best_in_words(ranking)
    tasks = next((slice_ for slice_ in ranking.slices if slice_.slice == MEAN_OVER_TASKS), None)
    if tasks is not None and tasks.models[0].model != ranking.models[0].model:
        finding += f" on all rows; in the mean over tasks {tasks.models[0].model} comes first"
    behind = [name for tier in rest for name in tier]
    also = [
        ("Tier 1:", f"{some_of(first)}; none is shown to be better than these."),
        ("Behind:", f"{some_of(behind)}; at least one model is better than each." if behind else ""),
        ("Pairs:", f"{_pairs_shown(ranking)}."),
    ]
    more = "from more runs" if getattr(ranking.test, "kind", "") == "runs" else "on more rows"
    choose = f"Choose among tier 1 by other criteria, such as cost, or rank them {more}."
    advice = f"Take {ranking.models[0].model}." if len(first) == 1 else choose
    if ranking.costs:
        advice = f"By {header_of(ranking)[3]} and {ranking.cost} together, choose among {join_words(ranking.front)}."
        dominated = [cost.model for cost in ranking.costs if cost.dominated_by]
        text = f"{some_of(dominated)}; at least one model is shown to be better and cheaper than each."
        also.append(("Dominated:", text if dominated else "no model is shown to be better and cheaper than another."))
    also = [(label, sentence) for label, sentence in also if sentence]
    return Answer(verdict=None, row=None, finding=finding, advice=advice, also=tuple(also))


def _pairs_shown(ranking: Ranking) -> str:
    shown = sum(pair.better for pair in ranking.pairs)
    return f"{shown:,} of {count_of(len(ranking.pairs), 'pair')} {'differs' if shown == 1 else 'differ'} significantly"


def _best_in_words(ranking: Ranking) -> str:
    """Return the best model on all rows, or the possible ones, or a note that there are too few rows."""
    k, n = len(ranking.models), ranking.n if ranking.groups is None else ranking.groups
    # The smallest p of n rows or groups is 1/2^n, and Holm's first level is shared by all ordered pairs.
    fewest = math.ceil(math.log2(k * (k - 1) / (1 - ranking.confidence_level)))
    if not ranking.test and n < fewest:
        rows = count_of(n, ranking.unit if ranking.groups is None else "group")
        return f"{rows} cannot distinguish {k} models: at least {fewest} are needed"
    return best_of(ranking.tiers[0], len(ranking.models))


def best_of(first: Sequence[str], k: int) -> str:
    """Return the best of `k` models, or the possible ones: those in `first`."""
    if len(first) == 1:
        return f"{first[0]} is the best of {k} models"
    if len(first) == k:
        return f"None of the {k} models is shown to be better than another"
    shown = [*first[:_NAMED], *([f"{len(first) - _NAMED} more"] if len(first) > _NAMED else [])]
    return f"{join_words(shown)} may each be the best of {k} models"


def basis(ranking: Ranking) -> str:
    """Return the models, rows and test that the ranks are based on."""
    of_means = ranking.groups is not None or ranking.measure != "accuracy" or ranking.averaged
    test = "a bound of the mean that allows for an unseen row" if of_means else "McNemar's exact test"
    test = f"the test of sigstats compare ({_tests(ranking)})" if ranking.test else test
    return (
        f"{rows_in_words(ranking)}; with {significant(100 * ranking.confidence_level)}% confidence, all ranks are "
        f"correct ({test} for every ordered pair, Holm's adjustment); "
        f"{_pairs_shown(ranking)}" + (_OF_FRONT.format(ranking.cost) if ranking.costs else "")
    )


def _tests(ranking: Ranking) -> str:
    """Return the test of all pairs, or each test with the pairs that it compares."""
    pairs: dict[str, list[str]] = {}
    for pair in ranking.pairs:
        pairs.setdefault(pair.test, []).append(f"{pair.a} and {pair.b}")
    named = [f"{test} for {some_of(of_test)}" for test, of_test in pairs.items()]
    return "; ".join(named if len(named) > 1 else pairs)


_OF_FRONT = (
    "; a model is dominated if another has both a significantly better score and a significantly lower {} (the "
    "larger p of the two tests, adjusted by Holm's method over all ordered pairs)"
)


def rows_in_words(ranking: Ranking) -> str:
    """Return the number of models, and of the rows that all of them answered."""
    rows = count_of(ranking.n, ranking.unit)
    rows += "" if ranking.groups is None else f" in {count_of(ranking.groups, 'group')}"
    return f"{count_of(len(ranking.models), 'model')} on the same {rows}"


#: The version of the form of the JSON, increased when it changes.
JSON_VERSION = 2


def as_json(ranking: Ranking, files: Sequence[str], entries: Mapping[str, Any]) -> str:
    """All results, under the names of the fields of `sigstats.results.Ranking`; `files` in the order of the models."""
    answer = answer_of(ranking)
    content: dict[str, Any] = {
        "version": JSON_VERSION,
        "answer": {"headline": answer.headline, "advice": answer.advice},
        "measure": ranking.measure,
        "n": ranking.n,
        "averaged": ranking.averaged,
        "groups": ranking.groups,
        "confidence_level": ranking.confidence_level,
        "models": [{**_with_ends(model), "file": file} for model, file in zip(ranking.models, files, strict=True)],
        "tiers": ranking.tiers,
        "pairs": [asdict(pair) for pair in ranking.pairs],
        "slices": [{**asdict(slice_), "models": list(map(_with_ends, slice_.models))} for slice_ in ranking.slices],
        "notes": notes_as_objects(ranking.notes),
    }
    if ranking.costs:
        costs = list(map(_with_ends, ranking.costs))
        content |= {"cost": ranking.cost, "front": ranking.front, "costs": costs}
    return json.dumps({**content, **entries}, indent=2, allow_nan=False)


def _with_ends(model: RankedModel | RankedCost) -> dict[str, Any]:
    low, high = (end if math.isfinite(end) else None for end in model.confidence_interval)
    rest = {name: value for name, value in asdict(model).items() if name != "confidence_interval"}
    return {**rest, "low": low, "high": high}


def as_markdown(ranking: Ranking) -> str:
    """Return a headline, the table of models, and the ranks in each slice."""
    answer = answer_of(ranking)
    lines = [f"### {for_markdown(answer.headline)}", "", for_markdown(answer.advice), ""]
    lines += [f"{for_markdown(basis(ranking))}.", ""]
    lines += markdown_table(header_of(ranking), [cells_of(ranking, model) for model in ranking.models])
    if ranking.slices:
        ranked = [slice_ for slice_ in ranking.slices if slice_.models]
        ranks = [{model.model: ranks_of(model) for model in slice_.models} for slice_ in ranked]
        names = ["model", *(f"{slice_.slice} ({slice_.n:,})" for slice_ in ranked)]
        rows = [[model.model, *(by_model[model.model] for by_model in ranks)] for model in ranking.models]
        lines += ["", "Ranks in each slice:", "", *markdown_table(names, rows)]
        lines += [
            f"\nNot ranked: {for_markdown(slice_.slice)}, {slice_.note}." for slice_ in ranking.slices if slice_.note
        ]
    lines += [f"\nNote: {for_markdown(note)}." for note in ranking.notes]
    return "\n".join(lines)


def show(ranking: Ranking) -> None:
    """Print the headline, the models, and which of them may be best in each slice."""
    terminal, target = sys.stdout.isatty(), io.StringIO()
    width = shutil.get_terminal_size((80, 24)).columns if terminal else 160
    console = Console(file=target, highlight=False, soft_wrap=True, width=width, force_terminal=terminal or None)

    def say(line: str, style: str = "") -> None:
        console.print(Text(printable(line), style=style))

    answer = answer_of(ranking)
    say(f"{answer.headline}.", "bold")
    say(answer.advice, "bold")
    for note in ranking.notes:
        say(f"note: {note}")
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in header_of(ranking):
        table.add_column(name, justify="left" if name == "model" else "right", no_wrap=True)
    for model in ranking.models:
        cells = (Text(printable(cell)) for cell in cells_of(ranking, model))
        table.add_row(*cells, style="bold" if model.tier == 1 else None)
    console.print(table)
    for slice_ in ranking.slices:
        best = ", ".join(f"{model.model} ({ranks_of(model)})" for model in slice_.models if model.tier == 1)
        say(f"{slice_.slice}, {slice_.n:,} {ranking.unit}s: {slice_.note or 'may be the best: ' + best}")
    say(f"{basis(ranking)}.", "dim")
    sys.stdout.write(target.getvalue())


def model_names(files: Sequence[str], subjects: Sequence[Mapping[str, str]]) -> list[str]:
    """Return a name for each file, all different.

    Files whose logs name the same model are distinguished by their names, files of one name by their folders.

    >>> model_names(["a/gpt.csv", "b/gpt.csv", "tree.jsonl.gz"], [{}] * 3)
    ['a/gpt', 'b/gpt', 'tree']
    >>> model_names(["x.eval", "y.eval"], [{"model": "m"}] * 2)
    ['m (x)', 'm (y)']
    """
    paths = [PurePath(file) for file in files]
    stems = [(PurePath(path.stem) if path.suffix in (".gz", ".bz2", ".xz", ".zst") else path).stem for path in paths]
    models = [subject.get("model", "") for subject in subjects]
    names = [model or stem for model, stem in zip(models, stems, strict=True)]
    longer = [f"{model} ({stem})" if model else stem for model, stem in zip(models, stems, strict=True)]
    names = _where_repeated(names, longer)
    for depth in range(1, max(len(path.parts) for path in paths)):
        longer = ["/".join([*path.parent.parts[-depth:], stem]) for path, stem in zip(paths, stems, strict=True)]
        names = _where_repeated(names, longer)
    return _where_repeated(names, [f"{name} #{names[: i + 1].count(name)}" for i, name in enumerate(names)])


def _where_repeated(names: Sequence[str], longer: Sequence[str]) -> list[str]:
    """Return the names, with longer ones in place of those that several models share."""
    return [more if names.count(name) > 1 else name for name, more in zip(names, longer, strict=True)]
