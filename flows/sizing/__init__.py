"""How many rows a comparison needs: in text, as a page, as JSON."""
