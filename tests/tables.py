"""Files of data frames."""


def save(frame, path):
    """Write a frame of pandas in the format that the suffix of its path names; the path."""
    if path.suffix == ".csv":
        frame.to_csv(path, index=False)
    elif path.suffix == ".parquet":
        frame.to_parquet(path, index=False)
    else:
        frame.to_json(path, orient="records", lines=path.suffix == ".jsonl")
    return path
