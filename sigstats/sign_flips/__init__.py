"""Exact tests of paired differences by random changes of sign."""
