"""Whether two independent samples fall into classes with equal probabilities."""
