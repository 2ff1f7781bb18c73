"""Interviews: their templates, their rooms, and all that happens in them."""
