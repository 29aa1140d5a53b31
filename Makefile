PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

# How many processes share the tests and the rows of tables; the fixture of a module stays with one as far as it can.
WORKERS ?= 2
SHARED = -n $(WORKERS) --dist worksteal

.PHONY: book pdf editions test check faults corners confirm publish links newest bench overview lock clean

book: $(READY)            ## execute the sections, build the HTML, say where it is
	@$(BIN)/python -m assocmem build

pdf: $(READY)             ## the book as a PDF (needs LaTeX: book/how_to.md)
	@$(BIN)/python -m assocmem pdf

editions: $(READY)        ## both side by side: rendering and printing take one core each
	@$(BIN)/python -m assocmem build --pdf

# Hundreds of short-lived interpreters import the package, and each of two processes all tests: what they compile is kept.
test check newest: export PYTHONDONTWRITEBYTECODE :=
test: $(READY)            ## ruff and pytest
	@$(BIN)/python -m compileall -q src
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/lint-imports --no-logo --no-cache
	@$(BIN)/python -m pytest -m "not site and not cuda and not faults" $(SHARED)

faults: $(READY)          ## bad input and interruptions by the hundred (an hour); rewrite their table
	@ASSOCMEM_FAULT_REPORT=1 $(BIN)/python -m pytest -m faults -k "not corners" tests/hostile

corners: $(READY)         ## every section and point function at the ends of its ranges (hours)
	@ASSOCMEM_FAULT_REPORT=1 $(BIN)/python -m pytest -m faults -k corners tests/hostile

check: $(READY)           ## look at the built book with a browser
	@$(BIN)/python -m pytest -m site $(SHARED) tests/site

TABLES := $(patsubst %.csv,%.yml,$(wildcard data/*/*.csv))
ROWS ?= 5
confirm: $(READY)         ## compute ROWS rows of each stored table again (an hour or more); renew the records of those that agree
	@$(BIN)/python -m assocmem sweep confirm --rows $(ROWS) --workers $(WORKERS) $(TABLES) && \
	  $(BIN)/python -m assocmem sweep export $(TABLES)

publish:                  ## put the built book on the branch gh-pages of the remote origin
	@.ci/publish

links: book               ## try the links of the book that lead elsewhere
	@$(BIN)/python -c 'from jupyter_book.cli.main import main; main()' build . -q \
	  --builder custom --custom-builder linkcheck

# A pin of requirements.txt is the lower bound here, and a bound in the first word of its comment the upper one.
newest:                   ## pytest with the newest packages, in an environment of its own
	@$(PYTHON) -m venv --clear $(VENV)-newest
	@sed -E 's/==([^ ]+) +# *(<[^ :]+).*/>=\1,\2/; s/==/>=/' requirements.txt > $(VENV)-newest/requirements.txt
	@$(VENV)-newest/bin/python -m pip install --quiet --upgrade -r $(VENV)-newest/requirements.txt
	@$(VENV)-newest/bin/python -m pip install --quiet --no-deps --editable .
	@$(VENV)-newest/bin/python -m pip list
	@$(VENV)-newest/bin/python -m pytest -m "not site and not cuda and not faults" $(SHARED)

bench: export OMP_WAIT_POLICY := passive
bench: $(READY)           ## measure fits and verdicts against their peers (hours) and rewrite the page; QUICK=1: five minutes, what became slower
ifeq ($(QUICK),1)
	@$(BIN)/python benchmarks/quick.py
else
	@$(BIN)/python benchmarks/passes.py
	@$(BIN)/python benchmarks/fits.py
	@$(BIN)/python benchmarks/many.py
	@$(BIN)/python benchmarks/verdicts.py
	@$(BIN)/python benchmarks/precision.py
	@$(BIN)/python -m assocmem build && $(BIN)/python benchmarks/pages.py
	@$(BIN)/python benchmarks/page.py
endif

overview: $(READY)        ## redraw the figures of the opening page, of the idea in 15 minutes, of the page by hand and of shared links
	@$(BIN)/python -m assocmem.book.overview book
	@$(BIN)/python -m assocmem.book.idea_figures book
	@$(BIN)/python -m assocmem.book.by_hand_figures book

lock: $(READY)            ## write constraints.txt from what is installed
	@$(BIN)/python -m pip freeze --exclude-editable | sed 's/+cpu$$//' > constraints.txt

clean:                    ## forget all results and the environment
	rm -rf $(VENV) $(VENV)-newest _build book/sections book/_extra book/_static_src/widgets/data
	rm -f book/ledger.md book/ledger_line.md book/proof_map.md book/status.md book/tables.md book/_static_src/explorer/tables.js

# The last step makes the link to the sources relative: Python cannot read an accented one in the C locale.
$(READY): requirements.txt constraints.txt pyproject.toml
	@$(PYTHON) -c 'import sys; v = sys.version_info; ok = (3, 11) <= v < (3, 14); \
	  sys.exit(0 if ok else f"Python 3.11 to 3.13 is needed, this is {v[0]}.{v[1]}: try make PYTHON=python3.12")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing the pinned packages into $(VENV) (about 2.5 GB, once)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt -c constraints.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	@for folder in $(VENV)/lib/python3*/site-packages; do echo ../../../../src > $$folder/assocmem.pth; done
	@touch $(READY)
