"""Help: pages, what every control is for, and the formulas in both."""
