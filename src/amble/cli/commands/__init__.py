"""The commands, a module each: ``arguments`` declares what one takes, ``run`` does it and returns the exit code."""
