"""Write the structure of the DAP schema, without its prose, for the tests to check messages with.

python scripts/strip_schema.py debugAdapterProtocol.json > tests/data/dap.schema.json
"""

import json
import sys

PROSE = ("description", "enumDescriptions", "title", "$comment")


def strip(value: object, inside: str = "") -> object:
    """Leave out the prose; a property that is itself called `description` stays."""
    if isinstance(value, dict):
        prose = () if inside in ("properties", "definitions") else PROSE
        return {k: strip(v, k) for k, v in value.items() if k not in prose}
    if isinstance(value, list):
        return [strip(v) for v in value]
    return value


def main(argv: list[str]) -> int:
    with open(argv[0]) as file:
        json.dump(strip(json.load(file)), sys.stdout, separators=(",", ":"), sort_keys=True)
    print()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
