"""What people call with data frames, files or arrays; it stands above the statistics and the readers of files."""
