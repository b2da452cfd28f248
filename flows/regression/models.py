"""One page on several models, from the history of the regression study of each."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sigstats.tasks.storage.store import Store

from ..errors import BadInput
from ..pages.page import Answer, page
from ..pages.wording import count_of, some_of
from .evaluate import opened
from .page import comparison_of, episodes_in_words
from .trends import trends_of


def models_page(outputs: Sequence[str], target: str) -> str:
    """The page: newest verdict, open fault and trends of each model, the worst model first.

    `target`: the file of the page; links to the reports of the models are relative to its folder.
    """
    models: list[dict[str, Any]] = []
    for number, output in enumerate(outputs):
        store = Store(output)
        if store.read_json("study.json")["study"].get("kind") != "regression":
            raise BadInput(f"--report: {output} is not the output of a regression study")
        study, records, damaged = opened(store)
        comparison, latest = comparison_of(records[-1], study), records[-1].evaluation
        trends = trends_of(records, comparison.rows[0].reference, fresh=study.looks.rows == "fresh", name=f"m{number}")
        report = f"{output.rstrip('/')}/report.html"
        models.append(
            {
                "name": study.name,
                "verdict": comparison.verdict,
                "finding": comparison.answer.finding,
                "latest": latest,
                "link": report if "://" in output else os.path.relpath(report, Path(target).parent),
                "faults": [line for line in episodes_in_words(records)[:1] if line.endswith("; open.")],
                "damaged": damaged,
                "trends": next(trends),
            }
        )
    models.sort(key=lambda model: ("fail", "inconclusive", "pass").index(model["verdict"]))
    worst = models[0]["verdict"]
    named = [model["name"] for model in models if model["verdict"] == worst]
    words = {"fail": "worse", "inconclusive": "undecided", "pass": "not worse"}[worst]
    headline = f"{len(named)} of {count_of(len(models), 'model')} {words}: {some_of(named)}"
    return page("models.html.j2", answer=Answer(headline=headline, verdict=worst), models=models)
