#!/bin/sh
# Opens a VS Code with the extension: prints its address and stays until Ctrl+C.
# PORT chooses the port, FXDAP_PYTHON the interpreter, FXDAP_VSCODE_RIG where VS Code is installed.
set -eu
cd "$(dirname "$0")/.."
for program in node npm tar; do
    command -v "$program" >/dev/null || { echo "make vscode needs $program on PATH" >&2; exit 1; }
done
exec node tests/vscode/serve.mjs
