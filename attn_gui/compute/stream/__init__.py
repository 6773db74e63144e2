"""Attention without ever holding n x n: one pass over blocks of rows, and any window computed when it is asked for."""
