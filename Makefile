# make demo: set up, train on real data, evaluate, show predictions and why. make test: set up, run every test.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: help setup demo test images slow fuzz docs notebooks docs-site lint format clean

help:
	@echo "make demo    set up, train on real data, evaluate, show predictions and why"
	@echo "make test    set up, run the test suite"
	@echo "make images  the pictures of the page in docs/images"
	@echo "make slow    the tests that take minutes"
	@echo "make fuzz    change data files and model folders at random for SECONDS=60, one after another"
	@echo "make docs    update the generated tables of settings, results, claims and sizes, and build the site"
	@echo "make notebooks  run the notebooks of the documentation and write what they show"
	@echo "make docs-site  the documentation as a site in .site, built offline"
	@echo "make lint    ruff, mypy, import-linter, codespell"
	@echo "make format  format the code"
	@echo "make clean   remove what the targets above made"

setup: $(READY)

# torch comes first and alone: asked for by another package, pip would choose a build with gigabytes of CUDA.
# The lock file names every package, so pip adds none: the weights of MiniLM would bring a library that nothing uses.
$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "longtail needs Python 3.11 or newer; set it with: make PYTHON=python3.11 ..."; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check "$$(grep '^torch==' requirements.lock)"
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps -r requirements.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $(READY)

demo: $(READY)
	$(BIN)/longtail data sample -o .demo/data --force
	$(BIN)/longtail train .demo/data -o .demo/model --budget 40s --force
	$(BIN)/longtail evaluate .demo/model .demo/data --html .demo/report.html --force
	$(BIN)/python examples/show_predictions.py .demo/model .demo/data
	$(BIN)/longtail explain .demo/model --text "a web framework in Python with templates and a database" -k 2
	@echo "The report with plots: .demo/report.html"
	@echo "The page, where you can try your own texts: $(BIN)/longtail serve .demo/model"

test: $(READY)
	@command -v chromium >/dev/null || echo "No Chromium: the tests of the page are skipped; apt-get install chromium"
	$(BIN)/python -m pytest -n 2 --dist loadfile

# The pictures of docs/images, from a server with small models that are trained for it.
images: $(READY)
	$(BIN)/python -m tests.e2e.screenshots

slow: $(READY)
	$(BIN)/python -m pytest -m slow

SECONDS := 60

fuzz: $(READY)
	$(BIN)/python -m tests.fuzz --seconds $(SECONDS)

docs: $(READY)
	$(BIN)/python -m longtail.cli.docs_tables docs
	$(BIN)/python -m benchmarks.readme_results
	$(BIN)/python -m benchmarks.claims
	$(BIN)/python -m benchmarks.install_sizes --write docs/install.md
	$(BIN)/python -m tools.docs_site -o .site

notebooks: $(READY)
	$(BIN)/python -m tools.notebooks

docs-site: $(READY)
	$(BIN)/python -m tools.docs_site -o .site

lint: $(READY)
	$(BIN)/ruff check src tests benchmarks tools examples
	$(BIN)/ruff format --check src tests benchmarks tools examples
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/codespell

format: $(READY)
	$(BIN)/ruff format src tests benchmarks tools examples
	$(BIN)/ruff check --fix src tests benchmarks tools examples

clean:
	rm -rf $(VENV) .demo .site .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
