"""tries: an answer file that says its own score
loses: everything
cell: first
rest: unanswered
"""

from autograder.checks import answers

pack = answers.pack


def generous(arrays, words):
    return pack(arrays, words | {"score": 100, "status": "passed", "problem": ""})


answers.pack = generous
