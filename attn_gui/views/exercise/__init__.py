"""Exercises: making them, and working on one."""
