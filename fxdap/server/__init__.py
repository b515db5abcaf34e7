"""The DAP server inside the debuggee."""
