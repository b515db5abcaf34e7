"""Python files that use torch.fx: what is wrong in them, what the methods mean, what can be run."""
