"""`fxdap vscode`: install the extension that the package carries into the editors found."""

import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

EDITORS = ("code", "code-insiders", "codium", "cursor", "windsurf", "code-server")
"""Commands of VS Code and of editors made from it that install a .vsix the same way."""

_PACKAGE = Path(__file__).parent.parent
_PLACES = (_PACKAGE / "vscode" / "fxdap.vsix", _PACKAGE.parent / "extension" / "fxdap.vsix")


def install_extension(editors: Sequence[str]) -> int:
    """Install into the named editor commands, else into every one on PATH; say what was done.

    Returns 0 if it went into at least one, 1 if an editor refused it, 2 if there is nothing to
    install or nowhere to install it.
    """
    vsix = next((place for place in _PLACES if place.is_file()), None)
    if vsix is None:
        print(
            "fxdap: this installation carries no extension; build it with `make extension` in a "
            "checkout, or install a released wheel",
            file=sys.stderr,
        )
        return 2
    found = [path for name in editors or EDITORS if (path := shutil.which(name)) is not None]
    if not found:
        wanted = ", ".join(editors or EDITORS)
        print(
            f"fxdap: no editor found on PATH (looked for {wanted}); in the editor, choose "
            f'"Extensions: Install from VSIX..." and {vsix}',
            file=sys.stderr,
        )
        return 2
    return max(_install(editor, vsix) for editor in found)


def _install(editor: str, vsix: Path) -> int:
    command = [editor, "--install-extension", str(vsix), "--force"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        print(f"fxdap: installed the extension into {editor}")
        return 0
    said = (done.stderr or done.stdout).strip()
    print(f"fxdap: {editor} did not take {vsix}: {said}", file=sys.stderr)
    return 1
