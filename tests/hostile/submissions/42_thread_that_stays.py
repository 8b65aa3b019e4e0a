"""tries: a thread that is still there when the notebook has ended
loses: nothing
cell: last
"""

import threading
import time

threading.Thread(target=time.sleep, args=(1000,)).start()
