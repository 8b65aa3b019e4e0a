"""The figures on the data sets' cards: what a table contains, and how far one gets without understanding it."""
