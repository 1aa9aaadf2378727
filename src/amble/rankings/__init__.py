"""Rankings: runs aligned with judgments, and the lists that measures see."""
