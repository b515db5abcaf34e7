"""What can keep a node from being written as a script."""


class ReproError(Exception):
    """A node that cannot be rebuilt elsewhere; says why and what to try."""
