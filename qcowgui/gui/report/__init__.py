"""Exporting a report of the image that is shown."""
