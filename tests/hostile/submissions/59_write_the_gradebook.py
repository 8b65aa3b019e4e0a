"""tries: give itself all points in the gradebook
loses: everything
cell: first
rest: unanswered
"""

import sqlite3

database = sqlite3.connect("@COURSE@/gradebook.db")
database.execute("update grade set auto_score = 100, manual_score = 100")
database.commit()
