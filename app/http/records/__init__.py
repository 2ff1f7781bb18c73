"""What is kept of requests: their rows of the audit log, and their counts."""
