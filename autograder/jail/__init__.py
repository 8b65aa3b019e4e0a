"""The jail: a server that imported torch once, a fork per submission, and nothing that can reach out of it.

Outside run `client` (starts servers, passes jobs), `bubblewrap` (the server's walls) and `frames` (the
distrustful reader of what comes back). Inside run `server`, `watch`, `namespaces`, `seccomp`, `runner`, `shell`
and `outputs`; only they are shown to the jail, under the package name `jail`, so they import nothing of the rest.
"""
