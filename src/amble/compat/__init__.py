"""Other programs' interfaces, on amble: one changed line of a pipeline that has them."""
