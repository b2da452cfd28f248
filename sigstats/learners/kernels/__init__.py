"""Kernel machines."""
