"""The jail: a server that imported torch once, a fork per submission, and nothing that can reach out of it.

Outside run `jobs` (packs them), `client` (hands them over), `launch` (starts servers), `bubblewrap` (the
server's walls), `stage` (for root) and `frames` (the distrustful reader of what comes back). Inside run `server`, `isolation`,
`namespaces`, `seccomp`, `watch`, `runner`, `shell` and `outputs`. Only these, with `limits` and `kernel`, are
shown to the jail, as a package named `jail`; so they import nothing of the rest.
"""
