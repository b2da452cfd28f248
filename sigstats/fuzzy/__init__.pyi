from .fuzzy_tests import efficiency_test as efficiency_test
from .fuzzy_tests import goodness_of_fit_test as goodness_of_fit_test
from .fuzzy_tests import homogeneity_test as homogeneity_test
