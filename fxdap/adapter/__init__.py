"""The process an editor starts: it owns the debuggee's process and relays the protocol."""
