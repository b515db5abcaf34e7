#!/bin/sh
# Run the Python tests on the oldest and the newest supported torch, one after the other:
#   scripts/torch_matrix.sh [pytest arguments]
# TORCH_VERSIONS names other versions. Each has an environment in .venv-torch-VERSION, with
# what its last run printed in tests.log. Every version is run to the end; a summary follows.
set -u
cd "$(dirname "$0")/.." || exit 1

install() { # VERSION HOME
    "${PYTHON:-python3}" -m venv "$2" &&
        "$2/bin/python" -m pip install --quiet --disable-pip-version-check "torch==$1" &&
        grep -v '^torch==' constraints.txt >"$2/constraints.txt" &&
        "$2/bin/python" -m pip install --quiet --disable-pip-version-check \
            -c "$2/constraints.txt" -e '.[test,dev]' &&
        "$2/bin/python" -m pip install --quiet --disable-pip-version-check \
            -c "$2/constraints.txt" --no-deps timm &&
        touch "$2/.ready"
}

summary=
failed=0
for version in ${TORCH_VERSIONS:-2.12.0 2.14.1}; do
    home=.venv-torch-$version
    echo "== torch $version"
    if [ ! -e "$home/.ready" ] && ! install "$version" "$home"; then
        result="could not be installed"
        failed=1
    else
        # A pipe would hide the status of pytest.
        { "$home/bin/python" -m pytest -n 2 --dist loadfile "$@" || touch "$home/failed"; } |
            tee "$home/tests.log"
        result=$(tail -n 1 "$home/tests.log")
        [ ! -e "$home/failed" ] || { rm "$home/failed"; failed=1; }
    fi
    summary="$summary
torch $version: $result"
done
echo "$summary"
exit $failed
