# A fresh clone needs git, make and python3 (with venv), nothing else.
#   make run     set up and talk          make test       what breaks first, in minutes
#   make check   format, lint, types      make test-all   every promise
#   make wheel   dist/*.whl               make clean      back to the clone

PYTHON ?= python3
BIN := .venv/bin
SOURCES := gateway channels agent tests $(wildcard benchmarks)

NO_PYTHON = echo "Daybook needs Python 3.11 or newer, and there is no $(PYTHON) here. On Debian and Ubuntu: \
	sudo apt install python3 python3-venv; on macOS: brew install python. \
	Or name one: make PYTHON=/path/to/python3 $(MAKECMDGOALS)" >&2; exit 1
OLD_PYTHON = import sys; sys.exit("Daybook needs Python 3.11 or newer, and $(PYTHON) is %d.%d. If you have a newer one, \
	name it: make PYTHON=python3.12 $(MAKECMDGOALS)" % sys.version_info[:2] if sys.version_info < (3, 11) else 0)

.PHONY: run test test-all check wheel clean
.DELETE_ON_ERROR:

# OPTIONS=--no-browser, for one.
run: .venv/run
	@$(BIN)/daybook gateway --terminal $(OPTIONS)

# Each worker imports everything: without what Python keeps of that for the next time it takes twice as long. In a
# fresh clone that is made once beforehand, not by every worker at once.
unexport PYTHONDONTWRITEBYTECODE
COMPILED = test -d tests/__pycache__ || $(BIN)/pytest --full --collect-only -qq >/dev/null 2>&1 || true

# Where it has room, tests write into memory: to keep on a disk what nobody reads again takes a fifth of the time.
IN_MEMORY = base=; room=$$(df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 { print $$4 }'); \
	if [ "$${room:-0}" -gt 12000000 ] && ! grep -qs ' /dev/shm .*noexec' /proc/mounts && \
	TMPDIR=$$(mktemp -d /dev/shm/XXXX); then export TMPDIR; base=--basetemp=$$TMPDIR/t; \
	chmod 711 "$$TMPDIR"; trap 'rm -rf "$$TMPDIR"' EXIT; trap 'exit 130' INT TERM; fi

# Of each file what costs little and the first of the rest; TESTS=tests/agent (or any words for pytest): all of a part.
test: .venv/test
	@$(COMPILED); $(IN_MEMORY); $(BIN)/pytest $$base -n auto --dist worksteal $(or $(TESTS),--quick)

# With servers of others, both stores, all of a random test's examples, and a share of plain starts. One by one, the
# longest first.
test-all: .venv/test-all
	@$(COMPILED); $(IN_MEMORY); $(BIN)/pytest $$base -n auto --dist load --maxschedchunk 1 --full $(TESTS)

check: .venv/check
	$(BIN)/ruff format --check $(SOURCES) .ci/container
	$(BIN)/ruff check $(SOURCES) .ci/container
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/vulture
	$(BIN)/python -m tests.recorded.reference --check
	@! test -x $(BIN)/hadolint || $(BIN)/hadolint Dockerfile

wheel: .venv/check
	$(BIN)/pip wheel --quiet --no-deps --no-build-isolation --wheel-dir dist .

clean:
	rm -rf .venv build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# What is installed, by who needs it. Editable: a change in the sources needs no step in between.
.venv/run .venv/test .venv/check .venv/test-all: pyproject.toml constraints.txt
	@command -v $(PYTHON) >/dev/null 2>&1 || { $(NO_PYTHON); }
	@$(PYTHON) -c '$(OLD_PYTHON)'
	@$(PYTHON) -I gateway/install.py $(@F) $(PYTHON)
