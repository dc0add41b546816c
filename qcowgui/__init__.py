"""qcowgui: see inside qcow2 disk images, and convert them."""

from __future__ import annotations

__version__ = "0.1.0"
