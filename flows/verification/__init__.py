"""Compare this machine's answers with the reference set: `sigstats verify`."""
