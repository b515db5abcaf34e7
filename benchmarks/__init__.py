"""How fast the debugger is, beside its peers. `python -m benchmarks` prints one table."""
