"""The figures and tables of the notebooks, which compute the values; a module for each notebook, or for each of its topics."""
