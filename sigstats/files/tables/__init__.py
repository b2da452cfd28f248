"""Tables: delimited text (CSV and similar formats), and columns of Arrow (Parquet, JSON).

All commands read the same dialect of text:

- Fields are separated by a comma. If the first line has no comma, they are separated by a tab, else by a semicolon, or
  else by a bar. A line ``sep=;`` before the names, as Excel writes it, sets the separator too. Spaces separate only
  columns of numbers: all lines have equally many words, and each row has a number. Text of one column has one value per
  line.
- Lines at the start with a number sign and a space are comments. The last one names the columns if it has as many
  words as the first row, and that row has a number. A line that may be names or a row, or a comment, is refused.
- A line of dashes below the names, as in Markdown, and the second and third lines of Orange's tables are not rows.
- If numbers are required, they have a decimal point. A comma may replace it, in quotes or with other separators, unless
  all commas of a column may separate thousands. Columns such as 1.250 are refused next to decimal commas or semicolons.
- A field in double quotes may contain separators and line breaks; a quote inside it is doubled.
- White space around a field is ignored. Only an empty field is missing.
- Text is text: ``007``, ``NA``, ``null``, ``1e3`` and ``True`` are names like any other. A column is read as numbers
  only if numbers are required or, among the features of a data set, if all of its fields are numbers.
- Lines end with a line feed, a carriage return or both; blank lines are left out. Every row has as many fields as the
  first. The text is UTF-8, with a byte order mark or without.

Rows are read as a `sigstats.files.tables.table.Table`, from text as a `delimited.DelimitedTable`.
"""
