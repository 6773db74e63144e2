"""Choosing, combining and importing masks."""
