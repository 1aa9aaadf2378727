"""Users: how people walk a ranking."""
