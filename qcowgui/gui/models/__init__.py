"""Qt models over the immutable tables of `formatters` and `structures`."""
