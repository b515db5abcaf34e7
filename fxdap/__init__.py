"""fxdap: a debugger for torch.fx graphs."""

__version__ = "0.1.0"
