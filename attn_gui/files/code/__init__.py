"""An experiment as code that others can run: PyTorch and NumPy scripts, and LaTeX.

A script stands alone: it rebuilds what is on screen with readable names, and prints the same weights and output.
"""
