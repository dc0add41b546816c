"""Repair: plan byte edits, prove them, and carry them out on a copy, or in place with an undo."""
