"""Charts of scores, distributions, users and orders (extra ``report``)."""
