"""A comparison of two models in words: as text, Markdown, JSON and a page."""
