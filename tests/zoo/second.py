"""Run as a module: the digests of the listings that another process makes of the same models."""

import hashlib
import json
import sys
import warnings

from tests.zoo.captures import CAPTURES
from tests.zoo.checks import listing_of
from tests.zoo.collection import BY_NAME


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def main() -> None:
    warnings.simplefilter("ignore")
    for name in sys.argv[1:]:
        captured = [capture(BY_NAME[name]) for capture in CAPTURES.values()]
        found = {g.title: digest(listing_of(g).text) for c in captured for g in c.graphs}
        print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
