"""Retrieval: index a collection, search it for topics, and explain scores."""
