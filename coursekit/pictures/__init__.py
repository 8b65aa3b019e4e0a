"""The larger figures of the notebooks, one module for each notebook; the notebook computes the values that they show."""
