"""One run: what is new, what each cell gave, what it is worth, and what is remembered of it."""
