"""Compare: pinned, present and their difference side by side."""
