"""The cluster map: every cluster of the file, or of the guest's disk, as a cell in a picture."""
