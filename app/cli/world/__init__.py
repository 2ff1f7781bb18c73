"""What is asked of the test mode of a service that runs."""
