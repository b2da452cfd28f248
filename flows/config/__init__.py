"""Configuration files: TOML into validated models."""
