"""Lines as LSP and Python have them: str.splitlines also ends one at a form feed or U+2028."""

import re

from pygls.workspace import PositionCodec

_NEWLINE = re.compile(r"\r\n|\n|\r")


def split_lines(text: str) -> list[str]:
    """The lines without their ends; the last one is empty if the text ends in a newline."""
    return _NEWLINE.split(text) if "\r" in text else text.split("\n")


def line_start(text: str, line: int) -> int:
    """Where a line begins; the end of the text for one that does not exist."""
    if "\r" in text:
        starts = [0, *(found.end() for found in _NEWLINE.finditer(text))]
        return starts[line] if line < len(starts) else len(text)
    before = text.split("\n", line)
    return len(text) - len(before[-1]) if line < len(before) else len(text)


def column_at(line: str, units: int, codec: PositionCodec) -> int:
    """The column of what the client counts as so many units; its end where there are fewer."""
    if line.isascii():
        return min(units, len(line))
    counted = 0
    for column, character in enumerate(line):
        if counted >= units:
            return column
        counted += codec.client_num_units(character)
    return len(line)
