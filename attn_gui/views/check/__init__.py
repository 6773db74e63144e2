"""The drawer Check my work."""
