"""Gaussian classes and least squares: naive Bayes, linear and quadratic discriminants, the ridge classifier."""
