"""From Python: run a study, and read what a study found. `sigstats.run` and `sigstats.open_results`."""
