"""The other half of an experiment: from a collection and topics to runs and pools."""
