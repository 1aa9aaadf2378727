"""Expressions such as ``nDCG(gains=exp)@10``: grammar, domains of parameters, populations, aliases."""
