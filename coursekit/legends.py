"""Explanations of the numbers in a check's result. This module does not import torch, because the exercises and the grader read it."""

OF_WEIGHTS = {
    "registered": {
        "inputs": "weights.",
        "0": "The module registers nothing called {names} with the expected shape.",
        "1": "Registered as a buffer, which is not trained: {names}.",
        "2": "Registered as a parameter, though it should not be trained: {names}.",
        "3": "Not saved with the module: {names}.",
        "4": "No gradient reaches {names}, because nothing leads from there to the output.",
        "last": "Trainable parameters of the module that are not expected: {number}.",
        "last −1": "The module saves a buffer that is not among the expected weights.",
        "last −2": "The module saves one of the weights under a second name.",
    }
}
"""For `coursekit.growing.build` and the functions that call it: a sentence for each code, with the names of the weights."""
