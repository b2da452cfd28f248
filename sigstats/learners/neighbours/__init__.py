"""Nearest neighbours: the estimator, and its form that lists distances before anything is permuted."""
