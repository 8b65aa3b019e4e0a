"""IPython's kernels read this: after a restart they say what to do before a cell has imported the checks."""

c = get_config()  # noqa: F821
c.InteractiveShellApp.extensions = ["autograder.checks.skipping"]
