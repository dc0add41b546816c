"""qcowgui: see inside qcow2 disk images, and convert them."""

__version__ = "0.1.0"
