"""Two traces side by side: their difference as a matrix, and the figures that sum it up."""
