"""From Python: run a study, and read what a study found. `sigstats.run_study` and `sigstats.open_results`."""
