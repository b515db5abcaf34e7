#!/bin/sh
# Run the Python tests on the oldest and the newest supported torch, one after the other:
#   scripts/torch_matrix.sh [pytest arguments]
# TORCH_VERSIONS names other versions. Each has an environment in .venv-torch-VERSION.
set -u
cd "$(dirname "$0")/.." || exit 1
versions=${TORCH_VERSIONS:-"2.9.1 2.14.1"}
failed=
for version in $versions; do
    home=.venv-torch-$version
    if [ ! -e "$home/.ready" ]; then
        "${PYTHON:-python3}" -m venv "$home" &&
            "$home/bin/python" -m pip install --quiet --disable-pip-version-check \
                "torch==$version" &&
            grep -v '^torch==' constraints.txt >"$home/constraints.txt" &&
            "$home/bin/python" -m pip install --quiet --disable-pip-version-check \
                -c "$home/constraints.txt" -e '.[test]' &&
            "$home/bin/python" -m pip install --quiet --disable-pip-version-check \
                -c "$home/constraints.txt" --no-deps timm &&
            touch "$home/.ready" || exit 1
    fi
    echo "== torch $version"
    "$home/bin/python" -m pytest "$@" || failed="$failed $version"
done
[ -z "$failed" ] || { echo "failed on torch:$failed"; exit 1; }
