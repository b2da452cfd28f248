"""Everything that reads what a person brings: files, tables, logs of evaluations, data frames."""
