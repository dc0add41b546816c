"""What the bytes mean: bytes to values. Opens no file and never raises on content."""
