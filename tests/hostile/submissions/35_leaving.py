"""tries: leave the notebook in every polite way
loses: nothing
cell: first
"""

get_ipython().ask_exit()
exit()
quit()
