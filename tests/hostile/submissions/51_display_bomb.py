"""tries: a hundred thousand displays, some of them large
loses: nothing
cell: first
"""

from IPython.display import HTML, display

for number in range(100_000):
    display(HTML("<b>x</b>" * (number % 500)))
