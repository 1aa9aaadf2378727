"""Scores of runs, distributions of scores over users, C/W/L reports, precision-recall curves."""
