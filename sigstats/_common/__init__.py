"""Modules shared by several parts of the library."""
