"""What every page has: its templates and style, drawings, axes, and numbers and lists in words."""
