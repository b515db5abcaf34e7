"""Watches that stop: NaN, Inf, metadata that disagrees, in-place writes, data breakpoints."""
