"""Stands in the jail where a module that holds right answers would: it holds right answers to other notebooks."""

raise ImportError(f"{__name__} is not there while a notebook is graded: it holds right answers.")
