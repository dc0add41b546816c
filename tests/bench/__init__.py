"""The benchmark: qcowgui against qemu-img on an image of real files, as ratios."""
