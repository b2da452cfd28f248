"""Common parts of pages: templates and style, drawings, axes, and numbers and lists in words."""
