"""Code that processes of the image start with is not collected: importing it blocks packages."""

collect_ignore = ["serving"]
