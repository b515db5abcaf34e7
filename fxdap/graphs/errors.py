"""What can go wrong before a graph runs."""


class TargetError(Exception):
    """A launch configuration that leads to no graph: names the thing, the value, the remedy."""

    def __init__(self, key: str, value: object, problem: str, remedy: str) -> None:
        super().__init__(f"{key}: {value!r}: {problem}. {remedy}".strip())
        self.key = key
        self.value = value
