"""Calls as the documents write them, and mistakes that a type checker finds; read by test_typed_calls.py, never run."""

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import polars as pl

import sigstats

if TYPE_CHECKING:
    y, a, b = [0, 1, 1], np.array([0, 1, 0]), pd.Series([0, 1, 1])
    columns = pl.Series(["no", "yes"])

    sigstats.mcnemar_test.from_predictions(y=y, a=a, b=b, alternative="greater").only_a
    sigstats.mcnemar_test(sigstats.discordant_counts(columns, columns, columns)).pvalue
    sigstats.mcnemar_test(*sigstats.discordant_counts(y, a, b), method="mid-p")
    sigstats.mcnemar_test([[40, 1], [7, 52]], method="unconditional")
    sigstats.mcnemar_test(pd.DataFrame([[40, 1], [7, 52]]))
    sigstats.bootstrap_test(sigstats.JointOutcomes(e1=40, e2=12, e3=5), measure="f1", rng=1).estimate
    sigstats.bootstrap_test(sigstats.JointEvents.from_predictions(y, a, b), measure="macro-f1", rng=1)
    sigstats.bootstrap_test.from_predictions(y, a, b, positive=1, measure="recall", n_resamples=99).value_a
    sigstats.accuracy_difference.from_predictions(y, a, b).confidence_interval.low
    sigstats.discordant_odds_ratio.from_predictions(y, a, b, method="mid-p").estimate
    sigstats.f1_interval.from_predictions(y, a, positive=1).low
    sigstats.f1_difference_interval.from_predictions(y, a, b).high
    sigstats.efficiency_test.from_predictions(y, a, labels=[0, 1]).kappa
    sigstats.pair_probability.from_predictions(y, a, b) + 1.0
    sigstats.compare(y, baseline=a, candidate=b).verdict
    sigstats.compare(baseline=pd.DataFrame(), candidate=pd.DataFrame(), slices=["part"]).verdict
    sigstats.paired_sample_size(only_a=0.1, only_b=0.05, power=0.8) + 1
    right = np.intp(7)  # as `numpy.count_nonzero` counts
    sigstats.clopper_pearson(right, right).low + sigstats.pair_probability(right, right)
    sigstats.accuracy_difference(right, right, n=100).estimate + sigstats.mcnemar_test(right, right).pvalue

    sigstats.mcnemar_test.from_predictions(y, a)  # mistake: b is missing
    sigstats.mcnemar_test.from_predictions(y, a, b, alternativ="greater")  # mistake: a misspelt option
    sigstats.bootstrap_test.from_predictions(y, a, b, method="bootstrap")  # mistake: an unknown method
    sigstats.bootstrap_test.from_predictions(y, a, b, a)  # mistake: a third classifier
    sigstats.f1_difference_interval.from_predictions(y, prediction_a=a, prediction_b=b)  # mistake: other names
    sigstats.accuracy_difference.from_predictions(y, a, b).p_value  # mistake: no such attribute
    sigstats.compare(y, a, b, slice=["part"])  # mistake: a misspelt option
