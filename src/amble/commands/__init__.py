"""The commands of the command line, a module each: ``arguments(parser)`` and ``run(args)``."""
