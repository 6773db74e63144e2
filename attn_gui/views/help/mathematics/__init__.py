"""Formulas set as mathematics: parsed from a part of LaTeX's notation, laid out, drawn, and told on one line."""
