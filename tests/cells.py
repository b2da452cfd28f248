"""Cells of tests that need no study."""

from sigstats.tasks.benchmark.work import Retrained
from sigstats.tasks.plan import Cell
from sigstats.tasks.record import Folds, Learner, Named, Work


def a_cell(**changes):
    """A cell of one replicate, with these values in place of the usual ones."""
    usual = {"fanout": "crossval", "version": 1, "subject": {"dataset": "d"}, "work": Work(), "stream": {}, "seed": 1}
    return Cell(**{**usual, "replicates": 1, "lane_size": 1, **changes})


def retrained(dataset="d", learner="1-nn", code=None):
    """The work of a cell of retrains."""
    return Retrained(
        dataset=Named(name=dataset, digest=dataset),
        classifier=Learner(learner=learner, params={}, code=code),
        cross_validation=Folds(folds=10, seed=1),
        null="labels",
    )
