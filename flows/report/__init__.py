"""The report of a study: one page of HTML."""
