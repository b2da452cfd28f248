"""A package of classifiers, as somebody else may have written it; the tests copy it to a folder of their own."""

__version__ = "1.0"
