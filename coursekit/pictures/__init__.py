"""The larger figures of the notebooks, one module for each; a notebook computes what they show."""
