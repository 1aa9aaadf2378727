"""Expressions such as ``nDCG(gains=exp)@10``: their grammar, the domains of parameters, populations."""
