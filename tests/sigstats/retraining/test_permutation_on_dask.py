"""`sigstats.permutation_test` on the workers of a Dask cluster, as scikit-learn's tools run there."""

import joblib
import pytest
from sklearn.datasets import load_wine
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from sigstats import permutation_test


@pytest.mark.long
@pytest.mark.processes
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")
@pytest.mark.parametrize("classifier", [GaussianNB(), DecisionTreeClassifier(max_depth=2, random_state=0)])
def test_a_dask_cluster_gives_what_this_process_gives(classifier):
    from distributed import Client, LocalCluster, get_task_stream

    X, y = load_wine(return_X_y=True)
    here = permutation_test(classifier, X, y, cv=3, n_resamples=40, rng=1)
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0") as cluster,
        Client(cluster) as client,
        joblib.parallel_config(backend="dask"),
        get_task_stream(client) as stream,
    ):
        there = permutation_test(classifier, X, y, cv=3, n_resamples=40, rng=1, n_jobs=-1)
    assert there == here
    assert stream.data
