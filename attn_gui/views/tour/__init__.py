"""Tours: the panel beside the formula, what it points at, and its instruments."""
