"""Significance studies: the models of a study file and of its tables, and its plan."""
