"""The exercises of each notebook: `EXERCISES` of the module that is named like the notebook's topic."""
