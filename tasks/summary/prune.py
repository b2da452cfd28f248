"""What an output needs no longer, and the computations whose replicates were deleted."""

from ..plan import Cell
from ..results import read_plan
from ..schema import as_summary
from ..storage.block_files import BLOCKS, REPLICATES
from ..storage.store import Store

#: The folders that are deleted, by what is kept.
DELETED = {
    "replicates": ["blocks", "receipts"],
    "summary": ["blocks", "receipts", "replicates", "counts", "data", "code"],
}


def prune(store: Store, keep: str) -> list[str]:
    """Delete the folders that `keep` does not need; return those that existed."""
    with store.files.lock():
        deleted = [folder for folder in store.files.folders("") if folder in DELETED[keep]]
        for folder in deleted:
            store.files.drop(folder)
    return deleted


def lost(store: Store) -> list[Cell]:
    """The cells on which the stored summary rests and whose replicates are no longer there."""
    stored, _ = store.usable("summary.parquet", kind="summary")
    rows = [] if stored is None else as_summary(stored).select(["cell", "decision"]).to_pylist()
    told = {name for row in rows if row["decision"] != "missing" for name in row["cell"].split()}
    absent = told.difference(*map(store.files.folders, (REPLICATES, BLOCKS)))
    return [cell for cell in read_plan(store).cells if cell.name in absent] if absent else []
