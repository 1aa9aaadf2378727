"""Distributions of a score over users, and partial orders of systems by stochastic dominance."""
