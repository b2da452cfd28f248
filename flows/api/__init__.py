"""Run studies from Python, and read their results: `sigstats.run_study` and `sigstats.open_results`."""
