"""The experiments behind data/results and the figures on the data sets' cards: `python -m experiments` lists them."""
