"""Files that are written atomically, and the store of one study."""
