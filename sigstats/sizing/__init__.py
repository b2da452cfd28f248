"""The rows, runs or items that a comparison or a leaderboard needs, and the power of those available."""
