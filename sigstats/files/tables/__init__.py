"""Tables: delimited text (CSV and similar formats), and columns of Arrow (Parquet, JSON).

All commands read the same dialect of text:

- Fields are separated by a comma. Where the first line has none, they are separated by a tab, else by a semicolon, or
  else by a bar. A line ``sep=;`` before the names, as Excel writes it, says so too. Spaces separate columns of numbers
  only: all lines have as many words, and each row has a number. Text of one column has one value per line.
- Lines at the start with a number sign and a space are comments. The last one names the columns if it has as many
  words as the first row, and that row has a number. What may be names or a row is refused.
- A line of dashes below the names, as of Markdown, and the second and third line of tables of Orange are no rows.
- Where numbers are asked for, they have a decimal point. A comma may stand for it, in quotes or between other
  separators, unless all commas of a column may part thousands.
- A field in double quotes may hold separators and ends of lines; a quote inside it is doubled.
- White space around a field is no part of it. An empty field is missing, and nothing else is.
- Text is text: ``007``, ``NA``, ``null``, ``1e3`` and ``True`` are names like any other. A column is read as numbers
  only where numbers are asked for, or, among the features of a data set, where all of its fields are numbers.
- Lines end with a line feed, a carriage return or both; blank lines are left out. Every row has as many fields as the
  first. The text is UTF-8, with a byte order mark or without.

Rows are read as a `sigstats.files.tables.table.Table`, from text as a `delimited.DelimitedTable`.
"""
