"""tries: send the inputs to a server on this machine, by TCP and by an abstract socket; ask a name server
loses: nothing
cell: first
"""

import socket

for family, address in (
    (socket.AF_INET, ("127.0.0.1", int("@PORT@"))),
    (socket.AF_UNIX, "\0words-in-context-canary-@PORT@"),
    (socket.AF_INET6, ("::1", int("@PORT@"))),
    (socket.AF_INET, ("1.1.1.1", 53)),
):
    try:
        with socket.socket(family) as link:
            link.settimeout(0.2)
            link.connect(address)
            link.sendall(b"inputs")
    except OSError as error:
        print(error)
try:
    socket.getaddrinfo("example.org", 80)
except OSError as error:
    print(error)
