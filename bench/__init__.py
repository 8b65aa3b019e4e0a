"""How fast `autograder grade` is beside `nbgrader autograde`, `otter run` and no protection at all: `make bench`."""
