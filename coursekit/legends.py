"""What the numbers of a check stand for, in words. Without torch: the exercises read it, and so does whatever grades them."""

OF_WEIGHTS = {
    "registered": "There is an entry for each weight, in the alphabetical order of their names: 2 for a parameter, 1 for a buffer, 0 "
    "where nothing of this name and shape is registered, 3 where it would not be saved, 4 where it does not lead to the "
    "output. The last entry counts the numbers that are too many."
}
"""Of `coursekit.growing.build` and what it is asked with."""
