"""Functions of data frames, files or arrays, which use the statistics and the readers of files."""
