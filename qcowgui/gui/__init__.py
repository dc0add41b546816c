"""The desktop application: a thin layer over the core."""
