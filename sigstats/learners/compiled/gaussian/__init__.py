"""Gaussian classes, compiled: naive Bayes and linear discriminants of all folds of a replicate."""

from ._gaussian_bayes import GaussianBayes
from ._linear_discriminants import Discriminants

__all__ = ["Discriminants", "GaussianBayes"]
