"""The kinds of study."""
