"""What runs on a worker, and what is stored."""
