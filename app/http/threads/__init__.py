"""Threads for requests: each has its turn, what can be slow and uses of keys their own; no address holds too much."""
