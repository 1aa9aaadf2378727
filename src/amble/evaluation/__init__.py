"""Evaluation: rankings and measures become scores, distributions, C/W/L reports, curves."""
