"""tries: a shell whose cells all succeed without being run
loses: everything
cell: first
rest: unanswered
"""

shell = type(get_ipython())
shell.run_cell = lambda *arguments, **more: type("Result", (), {"success": True})()
shell.showtraceback = lambda *arguments, **more: None
