"""Threads for requests: everybody's turn comes, and what can be slow has some of its own; no address holds too much."""
