"""Make, check and grade the notebooks of a course. The names that a course writes, and may rely on:

In a notebook, `from autograder.checks import …`:
    check(name, call)      calls the student's function on inputs, compares and explains
    hint(name)             the next of four hints
    case(name)             the first inputs on which the check failed, to play with
    predict(name, value)   commits to a number or a choice; reveal(name, value) later shows the result beside it
    progress()             which checks have passed
    CheckFailed            what a check raises that did not pass

In exercises.py, beside the source of a notebook:
    autograder.exercise          Exercise, Mistake, Draw
    autograder.checks.asking     Case
    autograder.checks.comparing  Rule

In nbgrader_config.py: `autograder.nbgrader_plugin.configure(c)` and the settings under `c.Autograder` and `c.Jail`.

All else is reached by the command `autograder` and by nbgrader's own.
"""
