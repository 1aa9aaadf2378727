"""What can be asked of a user who stopped after h documents with a gain of t."""

from __future__ import annotations

__all__ = ["QUESTIONS"]

QUESTIONS = {
    "order1": "the expected rate, E[t / h]",
    "order2": "the rate of expectations, E[t] / E[h]",
    "total": "the expected gain, E[t]",
    "satisfied": "how soon she was satisfied, E[1 / h; satisfied]",
    "markov": "precision where she is, in the mean over her visits to relevant documents",
    "session": "a whole session: several queries, each with its list",
}
