"""The version of our JSON."""

from __future__ import annotations

from typing import Final

SCHEMA: Final = 1
"""Version of everything in our JSON that qemu-img's does not have."""
