"""The language server: graph listings and Python sources in any editor that speaks LSP."""
