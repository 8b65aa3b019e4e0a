"""nbgrader's gradebook: who is on the roll, what was handed in, and the rows that a run writes."""
