"""Summarise a finished or interrupted study again and write its report, without running anything."""

import argparse

from ..errors import DONE, BadInput


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``sigstats report``."""
    parser.add_argument("output", metavar="OUTPUT", help="the folder or fsspec URL of a study's results")


def run(options: argparse.Namespace) -> int:
    """Write summary and report."""
    from tasks.store import Damaged, Store
    from tasks.summarize import summarize

    from ..report import write_report

    store = Store(options.output)
    try:
        if store.read_json("study.json").get("study", {}).get("kind") == "regression":
            from ..regression import report_again

            print(f"report: {report_again(store)}")  # noqa: T201
            return DONE
        summarize(store)
        print(f"report: {write_report(store)}")  # noqa: T201
    except FileNotFoundError as error:
        raise BadInput(f"OUTPUT: {options.output} is not valid; it holds no study ({error})") from None
    except Damaged as error:
        raise BadInput(f"OUTPUT: {error}; run the study again, which makes it anew") from None
    return DONE
