# `make` lists the targets. Another Python: make lab PYTHON=python3.12
PYTHON ?= python3
LAB_ARGS ?=
TEST_ARGS ?=
BENCH_ARGS ?=
LOCK_ARGS ?=

# These commands run in the course's environment: the active one if it has everything, otherwise .venv (tools/bootstrap.py).
RUN := $(PYTHON) tools/bootstrap.py run
RUN_TEST := $(PYTHON) tools/bootstrap.py --test run
# One torch thread per process is faster than two that wait for each other. Bytecode is kept; otherwise every process that a
# test starts would compile the course again. Four processes on two cores, because some of them are often waiting for a browser,
# for a time limit or for another process; two for the fast tests, which never wait.
PYTEST := PYTHONDONTWRITEBYTECODE= OMP_NUM_THREADS=1 $(RUN_TEST) python -m pytest --dist loadscope --no-loadscope-reorder -r fER -n

.DEFAULT_GOAL := help
.PHONY: help lab demo test test-fast audit notebooks grade mutants student-release book bench lock environment python clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

lab: python ## install what is missing, then open the course in JupyterLab (LAB_ARGS="--no-browser --port 8899")
	@$(PYTHON) tools/bootstrap.py lab $(LAB_ARGS)

demo: python ## grade a made-up class of twenty, with report and feedback to look at (under a minute)
	@$(RUN) autograder demo 02_attention

test: python ## every test except the audit (TEST_ARGS="-k release" selects some)
	@$(PYTEST) 4 $(TEST_ARGS)

test-fast: python ## the tests that are fast and need no browser, in about a minute
	@$(PYTEST) 2 -m "not slow and not browser and not audit" --ignore tests/audit --ignore tests/browser $(TEST_ARGS)

audit: python ## the tests that take hours: 300 draws, all mutants, other processors and Python versions, 80 random kills, JupyterHub, installation
	@$(PYTEST) 2 -rs -m audit $(TEST_ARGS)

notebooks: python ## build notebooks/ and their answer keys from solutions/
	@$(RUN) autograder build

grade: python ## grade your own answers in notebooks/ and show the result as an instructor would see it
	@$(RUN) autograder grade-mine

mutants: python ## change the solutions in small ways, and count how many of these changes the checks catch
	@$(RUN) autograder mutants

student-release: python ## write dist/words-in-context-student.zip, the files for students
	@$(RUN) autograder student-release

book: python ## write build/book/index.html, the course as a website, in about ten minutes (SOLUTIONS=1 for one with solutions; SITE_URL=https://… sets its public address)
	@OMP_NUM_THREADS=1 $(RUN_TEST) python -m tools.book

bench: python ## write docs/benchmarks.md, which compares our grading with nbgrader's and otter's (BENCH_ARGS=--quick to try it)
	@PYTHONDONTWRITEBYTECODE= $(RUN_TEST) python -m bench $(BENCH_ARGS)

lock: python ## lock new dependencies in uv.lock and export the lists that are made from this file (LOCK_ARGS=--upgrade for newer versions)
	@$(RUN_TEST) python tools/lock.py $(LOCK_ARGS)

environment: python ## make or complete .venv
	@$(PYTHON) tools/bootstrap.py

python:
	@$(PYTHON) -c '' 2>/dev/null || { echo "The course needs Python 3.11 to 3.13, but '$(PYTHON)' does not run: install Python, or name one that you have, as in 'make lab PYTHON=python3.12'." >&2; exit 1; }

clean: python ## delete the environment that `make` created and everything else that can be generated again; your work is kept
	@$(PYTHON) tools/bootstrap.py clean
