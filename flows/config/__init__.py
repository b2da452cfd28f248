"""Study files and cluster files: TOML into validated models."""
