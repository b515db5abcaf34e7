"""What watches report: shown like exceptions, though the program goes on as if nothing was."""

from dataclasses import dataclass


class Found(Exception):
    """Something that a watch found in a node's value. Never raised."""


class NaN(Found):
    """A value has NaN in it, and none of the node's inputs has."""


class Inf(Found):
    """A value has an infinity in it, and none of the node's inputs has."""


class MetaMismatch(Found):
    """A value is not what the node's metadata says."""


class InPlaceWrite(Found):
    """A node wrote into a value that another name still shows."""


EXCEPTIONS = {"inf": Inf, "nan": NaN, "meta": MetaMismatch, "mutation": InPlaceWrite}
"""By filter, in the order in which findings at one node are told."""

TITLES = {
    "inf": "Paused on Inf",
    "nan": "Paused on NaN",
    "meta": "Paused on a value unlike its metadata",
    "mutation": "Paused on an in-place write",
}


@dataclass(frozen=True)
class Finding:
    """One finding: the node, the filter it belongs to, and what to say."""

    index: int
    filter: str
    text: str
