"""tries: nothing: a cell of the student's own stops with an error
loses: nothing
cell: first
"""

print("trying something")
undefined_function(1)
