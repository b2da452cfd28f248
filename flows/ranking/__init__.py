"""A leaderboard of many models in words: as text, Markdown, JSON and a page."""
