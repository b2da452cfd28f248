"""Statistics for people who evaluate classifiers: exact, Monte-Carlo, bootstrap and permutation tests."""

from ._common.validation import ALTERNATIVES
from .bootstrap.test import BootstrapResult, bootstrap_test
from .effects import EffectSize, accuracy_difference, discordant_odds_ratio
from .efficiency import EfficiencyResult, efficiency_test, monte_carlo_size
from .fixed_margins.distribution import NumberCorrect, number_correct
from .goodness_of_fit import GoodnessOfFitTestResult, goodness_of_fit_test, relax_probabilities
from .homogeneity import HomogeneityTestResult, homogeneity_test
from .intervals import Interval, clopper_pearson
from .joint.events import JointEvents
from .joint.outcomes import JointOutcomes
from .mcnemar.power import detectable_difference, power, sample_size, type_one_error
from .mcnemar.test import DiscordantCounts, McNemarResult, discordant_counts, mcnemar_test
from .measures.measure import Measure
from .multiplicity import adjust
from .possibility import Possibility, dominance, membership, possibility, rank_hypotheses
from .proportions import ProportionResult, dcf_test, proportion_test
from .retraining.permutation import PermutationTestResult, Retrainer, permutation_test
from .sequential.rules import BesagCliffordRule, FixedRule, GandyRule, SequentialResult, deciding_exceedances
from .test_result import TestResult

__all__ = [
    "ALTERNATIVES",
    "BesagCliffordRule",
    "BootstrapResult",
    "DiscordantCounts",
    "EffectSize",
    "EfficiencyResult",
    "FixedRule",
    "GandyRule",
    "GoodnessOfFitTestResult",
    "HomogeneityTestResult",
    "Interval",
    "JointEvents",
    "JointOutcomes",
    "McNemarResult",
    "Measure",
    "NumberCorrect",
    "PermutationTestResult",
    "Possibility",
    "ProportionResult",
    "Retrainer",
    "SequentialResult",
    "TestResult",
    "accuracy_difference",
    "adjust",
    "bootstrap_test",
    "clopper_pearson",
    "dcf_test",
    "deciding_exceedances",
    "detectable_difference",
    "discordant_counts",
    "discordant_odds_ratio",
    "dominance",
    "efficiency_test",
    "goodness_of_fit_test",
    "homogeneity_test",
    "mcnemar_test",
    "membership",
    "monte_carlo_size",
    "number_correct",
    "permutation_test",
    "possibility",
    "power",
    "proportion_test",
    "rank_hypotheses",
    "relax_probabilities",
    "sample_size",
    "type_one_error",
]
