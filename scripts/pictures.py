"""Make docs/images of what the last run of the editor tests saw: python scripts/pictures.py."""

import os
from pathlib import Path

from PIL import Image

CHECKOUT = Path(__file__).parent.parent
RIG = Path(os.environ.get("FXDAP_VSCODE_RIG", CHECKOUT / ".vscode-rig"))
SHOTS = Path(os.environ.get("FXDAP_SHOTS", RIG / "shots"))
PICTURES = {
    "stopped": "hover",
    "selector": "selector",
    "python": "python",
    "completion": "completion",
    "exception": "exception",
}
"""Names in docs/images, and those that the scenes give."""


def main() -> None:
    for name, shot in PICTURES.items():
        target = CHECKOUT / "docs" / "images" / f"{name}.png"
        with Image.open(SHOTS / f"{shot}.png") as image:
            image.convert("RGB").quantize(256).save(target, optimize=True)
        print(f"{target}: {target.stat().st_size // 1024} kB")


if __name__ == "__main__":
    main()
