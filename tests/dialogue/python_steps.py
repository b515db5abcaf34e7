"""The sample whose nodes run the user's Python."""

from pathlib import Path

SAMPLE = Path(__file__).parents[2] / "sample_models" / "python_steps.py"
PROGRAM = {"program": SAMPLE.name, "stopOnEntry": False}


def line(text: str) -> int:
    """The sample's first line with a text in it."""
    lines = SAMPLE.read_text().splitlines()
    return next(number for number, each in enumerate(lines, 1) if text in each)
