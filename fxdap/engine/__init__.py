"""Stepping a torch.fx graph: programs, frames, stops, breakpoints. Knows torch, not DAP."""
