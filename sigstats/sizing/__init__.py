"""How many rows, runs or items a comparison or a leaderboard needs, and what those at hand can show."""
