"""The people whom an organisation knows, and what it wrote of them."""
