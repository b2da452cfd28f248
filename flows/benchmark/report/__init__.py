"""Texts and figures of the report for studies of this kind."""
