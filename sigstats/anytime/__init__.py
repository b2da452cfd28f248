"""Tests of rows that arrive, looked at as often as one likes."""
