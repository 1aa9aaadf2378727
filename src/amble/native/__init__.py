"""The compiled parts, each beside its plain twin: the same functions, the same results, the same messages."""
