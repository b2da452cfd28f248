from .test import efficiency_test as efficiency_test
from .test import goodness_of_fit_test as goodness_of_fit_test
from .test import homogeneity_test as homogeneity_test
