"""Retrieval: from a collection and topics to runs."""
