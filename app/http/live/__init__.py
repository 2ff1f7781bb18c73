"""Interviews live: who is in a room hears at once what happens there."""
