# A fresh clone needs git, make and python3 (with venv), nothing else.
#   make run     set up and talk          make test    the whole test suite
#   make check   format, lint, types      make wheel   dist/*.whl        make clean   back to the clone

PYTHON ?= python3
BIN := .venv/bin
SOURCES := gateway channels agent tests $(wildcard benchmarks)

NO_VENV = echo "$(PYTHON) cannot make a virtual environment with pip in it. On Debian and Ubuntu: \
	sudo apt install python3-venv. Or name another Python: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1

.PHONY: run test check wheel clean
.DELETE_ON_ERROR:

run: .venv/run
	$(BIN)/daybook gateway --terminal

test: .venv/test
	$(BIN)/pytest -n auto $(TESTS)

check: .venv/check
	$(BIN)/ruff format --check $(SOURCES)
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/vulture

wheel: .venv/check
	$(BIN)/pip wheel --quiet --no-deps --no-build-isolation --wheel-dir dist .

clean:
	rm -rf .venv build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/python: pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit("Daybook needs Python 3.11 or newer; try: make PYTHON=python3.12 " + "$(MAKECMDGOALS)") if sys.version_info < (3, 11) else None'
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { $(NO_VENV); }
	$(PYTHON) -m venv --clear .venv
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || { rm -rf .venv; $(NO_VENV); }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade -c constraints.txt pip setuptools hatchling
	touch $@

# What is installed, by who needs it. Editable: a change in the sources needs no step in between.
.venv/run: .venv/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation -c constraints.txt -e .
	touch $@

.venv/test: .venv/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation -c constraints.txt -e '.[test]'
	touch $@ .venv/run

.venv/check: .venv/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation -c constraints.txt -e '.[test,check]'
	touch $@ .venv/test .venv/run
