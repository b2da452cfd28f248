"""Prefect: the flow of a run, and deployments on a schedule."""
