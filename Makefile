# `make` lists the targets. Another Python: make lab PYTHON=python3.12
PYTHON ?= python3
LAB_ARGS ?=
TEST_ARGS ?=
BENCH_ARGS ?=
LOCK_ARGS ?=

# What runs in the course's environment: the active one if it has everything, otherwise .venv (tools/bootstrap.py).
RUN := $(PYTHON) tools/bootstrap.py run
RUN_TEST := $(PYTHON) tools/bootstrap.py --test run
# One torch thread in each process is faster than two that wait for one another, and what is compiled stays, or each of
# the processes that tests start would compile the course anew. Of three processes one often waits, for a browser or for a
# limit of the jail; fast tests wait for nothing.
PYTEST := PYTHONDONTWRITEBYTECODE= OMP_NUM_THREADS=1 $(RUN_TEST) python -m pytest --dist loadscope --no-loadscope-reorder -r fER -n

.DEFAULT_GOAL := help
.PHONY: help lab demo test test-fast audit notebooks grade mutants student-release book bench lock environment python clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

lab: python ## install what is missing, then open the course in JupyterLab (LAB_ARGS="--no-browser --port 8899")
	@$(PYTHON) tools/bootstrap.py lab $(LAB_ARGS)

demo: python ## grade a made-up class of twenty, with report and feedback to look at (under a minute)
	@$(RUN) autograder demo 02_attention

test: python ## every test except the audit, every time (TEST_ARGS="-k release" selects some)
	@$(PYTEST) 3 $(TEST_ARGS)

test-fast: python ## the tests that are fast and need no browser: a minute or two
	@$(PYTEST) 2 -m "not slow and not browser and not audit" $(TEST_ARGS)

audit: python ## the tests that take hours: 300 draws, all mutants, other processors and Python versions, 80 kills, hub, installation
	@$(PYTEST) 2 -rs -m audit $(TEST_ARGS)

notebooks: python ## make notebooks/ with their answer keys from solutions/
	@$(RUN) autograder build

grade: python ## grade your own answers in notebooks/, as an instructor would see them
	@$(RUN) autograder grade-mine

mutants: python ## change the solutions in small ways: how many changes do the checks catch?
	@$(RUN) autograder mutants

student-release: python ## dist/words-in-context-student.zip: what students get
	@$(RUN) autograder student-release

book: python ## build/book/index.html: the course as a website (SOLUTIONS=1 for one with solutions; SITE_URL=https://… sets its public address)
	@OMP_NUM_THREADS=1 $(RUN_TEST) python -m tools.book

bench: python ## docs/benchmarks.md: compare our grading with nbgrader's and otter's (BENCH_ARGS=--quick to try it)
	@PYTHONDONTWRITEBYTECODE= $(RUN_TEST) python -m bench $(BENCH_ARGS)

lock: python ## lock new dependencies in uv.lock and export the lists made from it (LOCK_ARGS=--upgrade for newer versions)
	@$(RUN_TEST) python tools/lock.py $(LOCK_ARGS)

environment: python ## make or complete .venv
	@$(PYTHON) tools/bootstrap.py

python:
	@$(PYTHON) -c '' 2>/dev/null || { echo "The course needs Python 3.11 or newer, and '$(PYTHON)' does not run: install Python, or name one that you have, as in 'make lab PYTHON=python3.12'." >&2; exit 1; }

clean: python ## delete the environment that `make` created and all else that can be generated again; your work is kept
	@$(PYTHON) tools/bootstrap.py clean
