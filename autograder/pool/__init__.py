"""Jobs for warm servers: on this machine in threads, on several in a cluster."""
