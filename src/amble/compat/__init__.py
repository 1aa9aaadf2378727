"""Drop-ins: the functions of other evaluation programs, by their names, with amble underneath."""
