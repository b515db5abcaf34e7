"""Framing, message types and typed dispatch of the Debug Adapter Protocol."""
