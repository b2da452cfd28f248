"""Data sets that are written in the study file, or drawn."""

import math

import numpy as np
import pytest
from scipy.stats import kstest, norm

from sigstats.tasks.datasets.readers import load


def test_rows_of_the_study_file(tmp_path):
    rows = ["o x 1.5 +", "x o 2 -", "? x 3 -"]
    dataset = load({"name": "D", "source": "inline", "rows": rows, "missing": ["?"]}, base=tmp_path)
    assert (dataset.features, dataset.classes) == (("x1", "x2", "x3"), ("+", "-"))
    assert (dataset.nominal.tolist(), dataset.categories) == ([True, True, False], (("o", "x"), ("o", "x"), ()))
    np.testing.assert_array_equal(dataset.X, [[0, 1, 1.5], [1, 0, 2], [np.nan, 1, 3]])
    assert dataset.y.tolist() == [0, 1, 1]
    spec = {"name": "D", "source": "inline", "rows": rows, "names": ["k", "b", "c", "d"], "target": "k"}
    with pytest.raises(ValueError, match=r"column 'k': 1 of 3 labels are '\?'; leave out rows without a class"):
        load(spec, base=tmp_path)
    named = load({**spec, "classes": ["?"]}, base=tmp_path)
    assert (named.features, named.classes) == (("b", "c", "d"), ("?", "o", "x"))


@pytest.mark.parametrize(
    ("more", "complaint"),
    [
        ({"rows": ["1 2 a", "1,2,b"]}, r"data set D, row 1 \(from 0\): 1 fields; expected 3"),
        ({"names": ["a", 2, "c"]}, "data set D: names: 2 is not valid; expected only strings in the list"),
        ({"columns": []}, "no column is left; keep at least one feature in addition to the class"),
    ],
)
def test_rows_that_are_no_data_set_are_one_line(tmp_path, more, complaint):
    with pytest.raises(ValueError, match=complaint):
        load({"name": "D", "source": "inline", "rows": ["1 2 a", "2 1 b"], **more}, base=tmp_path)


@pytest.mark.parametrize("rho", [-0.6, 0.0, 0.5, 0.95, 1.0])
def test_correlated_features_have_the_stated_moments(tmp_path, rho):
    n, apart = 40_000, 2.0
    spec = {"name": "D", "source": "generated", "generator": "correlated", "rows": n, "correlation": rho}
    dataset = load({**spec, "separation": apart, "seed": 7}, base=tmp_path)
    assert np.bincount(dataset.y).tolist() == [n // 2, n // 2]
    means = [dataset.X[dataset.y == label].mean(axis=0) for label in (0, 1)]
    assert np.linalg.norm(means[1] - means[0]) == pytest.approx(apart, abs=6 * 2 / math.sqrt(n))
    centred = dataset.X - np.array(means)[dataset.y]
    assert np.corrcoef(centred.T)[0, 1] == pytest.approx(rho, abs=6 / math.sqrt(n))
    np.testing.assert_allclose(centred.var(axis=0), 1, atol=6 * math.sqrt(2 / n))
    if rho < 1:
        # The best classifier looks at the difference of the features: error Phi(-apart / 2 / sd).
        wrong = ((dataset.X @ [1, -1] > 0) != (dataset.y == 1)).mean()
        expected = norm.cdf(-apart / 2 / math.sqrt(1 - rho))
        assert wrong == pytest.approx(expected, abs=6 * 0.5 / math.sqrt(n))


def test_noise_is_standard_normal_and_seeds_matter(tmp_path):
    spec = {"name": "D", "source": "generated", "generator": "noise", "rows": 3000, "features": 4, "classes": 3}
    first, again, other = (load({**spec, "seed": seed}, base=tmp_path) for seed in (1, 1, 2))
    assert first.digest() == again.digest() != other.digest()
    assert np.bincount(first.y).tolist() == [1000, 1000, 1000]
    assert kstest(first.X.ravel(), "norm").pvalue > 1e-6


BAD = {
    "no rows": ({"source": "inline", "rows": []}, "rows: [] is not valid"),
    "ragged": ({"source": "inline", "rows": ["1 a", "2 3 b"]}, "3 fields; expected 2"),
    "number": ({"source": "inline", "rows": [1, 2]}, "rows: 1 is not valid"),
    "one class": ({"source": "inline", "rows": ["1 a", "2 a"]}, "'a' is the only class"),
    "generator": ({"source": "generated", "generator": "corelated"}, "did you mean 'correlated'?"),
    "correlation": ({"source": "generated", "generator": "correlated", "correlation": 1.5}, "correlation: 1.5"),
    "option": ({"source": "generated", "generator": "noise", "correlation": 0.5}, "'correlation': unknown option"),
    "rows": ({"source": "generated", "generator": "noise", "rows": 1}, "rows: 1 is not valid"),
    "seed": ({"source": "generated", "generator": "noise", "seed": -1}, "seed: -1 is not valid"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_line(tmp_path, case):
    spec, complaint = BAD[case]
    with pytest.raises(ValueError, match="data set D") as caught:
        load({"name": "D", **spec}, base=tmp_path)
    assert complaint in str(caught.value)
    assert "\n" not in str(caught.value)
