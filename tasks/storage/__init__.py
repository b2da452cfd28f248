"""Files that are whole or absent, and the store of one study."""
