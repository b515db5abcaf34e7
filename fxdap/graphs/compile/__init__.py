"""Graphs that torch.compile makes: debugged while a client is attached, run as they are else."""
