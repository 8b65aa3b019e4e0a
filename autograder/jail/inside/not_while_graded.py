"""Stands in the jail where a module that holds right answers would: it holds right answers to other notebooks."""

raise ImportError(f"{__name__} is not available while a notebook is graded: it contains right answers.")
