"""Heatmaps: one image for a matrix, and everything that is read off it."""
