"""Data sets and documents, and the readers of their files."""
