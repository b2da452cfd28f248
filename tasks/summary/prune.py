"""The folders of an output that may be deleted, and the computations whose replicates are no longer there."""

from ..plan import Cell
from ..results import read_plan
from ..schema import as_summary
from ..storage.store import Store

#: The folders that are deleted, by what is kept, each with what is lost.
DELETED = {
    "replicates": {
        "blocks": "blocks of computations that were interrupted, which are computed again",
        "receipts": "times, machines and failures of blocks",
    },
    "summary": {
        "replicates": "replicates and predictions: no new report, figure, export or growth without computing all again",
        "data": "the data sets as they were read",
        "code": "the code of classifiers and tests of a notebook",
    },
}
DELETED["summary"] |= DELETED["replicates"]


def prune(store: Store, keep: str) -> dict[str, str]:
    """Delete the folders that `keep` does not need; return those that were there, with what is lost."""
    present = set(store.files.folders(""))
    deleted = {folder: lost for folder, lost in DELETED[keep].items() if folder in present}
    with store.files.lock():
        for folder in deleted:
            store.files.drop(folder)
    return deleted


def lost(store: Store) -> list[Cell]:
    """The cells on which the stored summary rests and whose replicates are no longer there."""
    stored, _ = store.usable("summary.parquet", kind="summary")
    rows = [] if stored is None else as_summary(stored).select(["cell", "decision"]).to_pylist()
    summarised = {name for row in rows if row["decision"] != "missing" for name in row["cell"].split()}
    absent = summarised - store.held() if summarised else summarised
    return [cell for cell in read_plan(store).cells if cell.name in absent] if absent else []
