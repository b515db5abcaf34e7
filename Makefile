# Everything is set up on the first `make demo` or `make test`; nothing outside the checkout
# is touched, but for Chromium, which the editor tests install when they are root and it is missing.

PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
NPM_READY := extension/node_modules/.ready

# What the tests start is as quick to import as what pip installs.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: demo test check pytest vscode-tests soak zoo torch-matrix bench extension vscode clean help

help:
	@echo "make demo       debug a transformer in this terminal"
	@echo "make vscode     open VS Code in a browser, on sample_models/, with the extension"
	@echo "make extension  build extension/fxdap.vsix"
	@echo "make test       everything CI runs"
	@echo "make check      linters, types and layers only"
	@echo "make soak       10,000 steps, 200 sessions, a graph of 100,000 nodes"
	@echo "make zoo        debug small models of every architecture that the tests know"
	@echo "make torch-matrix  the Python tests on the oldest and the newest torch"
	@echo "make bench      one table of speeds, with the peers beside them"
	@echo "make clean      remove what the other targets made"

demo: .venv
	$(BIN)/fxdap run sample_models/gpt.py:GPT --capture export \
	    --break 'target:aten.scaled_dot_product_attention module:blocks.0' \
	    --steps 2 --at-stop '(transpose @ transpose_1.mT).abs().max()'

test: check pytest vscode-tests

check: .venv $(NPM_READY)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	PYTHONPATH=. $(BIN)/python scripts/generate_protocol_docs.py --check
	cd extension && npm run check

# A module stays in one process, so that what its tests share is made once.
pytest: .venv
	$(BIN)/pytest -n 2 --dist loadfile

# The editor tests set up their own rig.
vscode-tests: .venv extension/fxdap.vsix
	node tests/vscode/run.mjs

soak: .venv
	$(BIN)/pytest tests/dialogue -m soak

zoo: .venv
	$(BIN)/pytest tests/zoo -m zoo

# Every version in an environment of its own, kept for the next time; some GB each.
torch-matrix: .venv
	scripts/torch_matrix.sh

bench: .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check \
	    -c constraints.txt -e '.[bench]'
	$(BIN)/python -m benchmarks

extension: extension/fxdap.vsix

vscode: .venv extension/fxdap.vsix
	scripts/vscode.sh

clean:
	rm -rf .venv .venv-torch-* .vscode-rig build dist extension/node_modules extension/dist extension/*.vsix fxdap/vscode
	rm -rf .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# `.venv` is the name people know; the stamp inside says that the installation finished.
.PHONY: .venv
.venv: $(READY)

# torch first and alone: pinned, it resolves to the build this machine offers for it, and
# nothing later can pull in another one. timm alone: see tests/zoo/timm_models.py.
$(READY): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check \
	    "$$(grep '^torch==' constraints.txt)"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check \
	    -c constraints.txt -e '.[test,dev]'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check \
	    -c constraints.txt --no-deps timm
	touch $@

$(NPM_READY): extension/package.json extension/package-lock.json
	cd extension && npm ci --loglevel=error
	touch $@

extension/fxdap.vsix: $(NPM_READY) $(shell find extension -name node_modules -prune -o \
    -type f ! -name '*.vsix' ! -path '*/dist/*' -print 2>/dev/null)
	cd extension && npm run package
	mkdir -p fxdap/vscode && cp $@ fxdap/vscode/
