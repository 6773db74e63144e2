"""What is being explored: values without Qt and without torch."""
