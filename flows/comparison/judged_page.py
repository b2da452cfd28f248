"""A comparison by a judge and labels of people as one page of HTML that needs no network."""

from dataclasses import replace

from sigstats.comparison.cells import difference_in_words, difference_of, interval_of

from ..pages.page import Answer, page
from ..pages.wording import count_of, p_equation
from .forest_plot import forest_plots
from .judged import PREFERS, JudgedComparison, guarantee_of, rates


def as_html(comparison: JudgedComparison) -> str:
    """The page: the corrected and the judge's difference, the judge's agreement with people, and the labels to get."""
    answer, result = _answer(comparison), comparison.result
    named = zip((comparison.candidate, comparison.baseline), result.agreement, strict=True)
    wanted = result.labels_wanted or (None, None, None)
    labels = [
        (who, f"{rows:,}", f"{there:,}", "none would do" if want is None else f"{want:,}")
        for who, rows, there, want in zip(PREFERS, result.rows, result.labels, wanted, strict=True)
    ]
    return page(
        "tables.html.j2",
        kind="comparison by a judge and people",
        answer=answer,
        tables=[
            (
                "Judge and people on the labelled rows",
                ("model", "both right", "judge alone", "people alone", "both wrong"),
                [(name, *map(str, agreement)) for name, agreement in named],
            ),
            ("Labels", ("where", "rows", "labels", "labels that would decide"), labels),
        ],
        about="Basis of the numbers",
        basis=[
            f"{count_of(result.n, 'row')} judged; people labelled {result.n_labels:,} ({comparison.human})",
            *(
                f"Judge and people on {name}: {', '.join(rates(agreement))}"
                for name, agreement in zip((comparison.candidate, comparison.baseline), result.agreement, strict=True)
            ),
            *comparison.notes,
            f"{guarantee_of(result).capitalize()}",
            "Labelled rows were chosen at random, or at random within each verdict of the judge",
        ],
    )


def _answer(comparison: JudgedComparison) -> Answer:
    result, corrected, judge = comparison.result, comparison.corrected, comparison.by_judge
    shown = [("The judge alone:", f"{difference_in_words(judge)}, its errors included.")]
    shown += [("Beware:", f"{note}.") for note in result.reason.split("; ") if note]
    return Answer(
        headline=f"{comparison.answer.finding[:1].upper()}{comparison.answer.finding[1:]}",
        verdict=comparison.verdict,
        numbers=[
            ("people would see", difference_of(corrected, corrected.difference), interval_of(corrected)),
            ("the judge sees", difference_of(judge, judge.difference), f"{result.n:,} rows"),
            ("labels of people", f"{result.n_labels:,}", p_equation(comparison.p_worse)),
        ],
        shown=shown,
        to_do=comparison.answer.advice,
        figure=forest_plots([corrected, replace(judge, verdict="inconclusive")], comparison.rule.margin),
        caption=(
            "Candidate minus baseline, with its interval: corrected by people's labels, and by the judge only. "
            "Square: worse. Diamonds: undecided. Disc: not worse. Dotted: the drop that a pass excludes."
        ),
    )
