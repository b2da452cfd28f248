"""Gaussian classes: naive Bayes, linear and quadratic discriminants."""
