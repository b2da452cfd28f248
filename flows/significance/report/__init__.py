"""What the report says and draws of studies of this kind."""
