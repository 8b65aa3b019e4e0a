"""tries: reach the course through links made inside the jail
loses: everything
cell: first
rest: unanswered
"""

import os

os.symlink("@COURSE@", "course")
os.symlink("/proc/1/root/@COURSE@", "root")
for link in ("course", "root"):
    try:
        print(os.listdir(link), open(f"{link}/solutions/02_attention/02_attention.py").read())
    except OSError as error:
        print(error)
