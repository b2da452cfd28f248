"""Prefect: the flow of a run, and deployments on a schedule. Import `environment` before any other module of it."""
