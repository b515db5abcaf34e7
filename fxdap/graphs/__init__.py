"""Where graphs come from: scripts, files, captures, and runs that user code starts."""
