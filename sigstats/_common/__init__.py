"""Modules that several rooms of the library share."""
