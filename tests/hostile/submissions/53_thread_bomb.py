"""tries: start threads until no more can be started
loses: nothing
cell: first
"""

import threading
import time

try:
    while True:
        threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
except RuntimeError as error:
    print(error)
