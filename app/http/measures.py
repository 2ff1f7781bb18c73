"""What a web process counts of its requests."""

from prometheus_client import Counter, Histogram

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 15.0)

REQUESTS = Counter("hiring_requests", "Requests answered.", ["operation", "status"])
SECONDS = Histogram("hiring_request_seconds", "Time until the answer.", ["operation"], buckets=BUCKETS)

NONE = "none"  # a path that is in no document, or a request that was refused before its operation was known


def request(operation: str, status: int, seconds: float) -> None:
    """Count one request; without an answer its status is 0."""
    name = operation or NONE
    REQUESTS.labels(name, str(status)).inc()
    SECONDS.labels(name).observe(seconds)
