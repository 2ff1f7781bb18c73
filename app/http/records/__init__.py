"""What is kept of requests: their rows of the audit log, which are written with what handlers are given, and counts."""
